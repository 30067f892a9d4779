import { colors, Frame, initialsOf, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-question .tk-slab { display: flex; width: u(760); max-width: 100%; }
.tk-question-mark { display: grid; flex: none; place-items: center; width: u(112); font-size: u(70); font-weight: 700; line-height: 1; }
.tk-question-body { display: grid; grid-template-columns: minmax(0, 1fr); flex: 1; gap: u(6); align-content: center; min-width: 0; min-height: u(124); padding: u(14) u(24) u(18); }
.tk-question-who { display: flex; gap: u(12); align-items: baseline; }
.tk-question-votes { flex: none; font-size: u(21); color: var(--quiet); }
`;

/** A viewer's question. */
export function Piece({ variables, onDismiss, t }: PieceProps<"question">) {
  const { text, name, headline = t("Question"), votes, accentColor } = variables;
  return (
    <Frame piece="question" name={headline} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        <div className="tk-question-mark tk-color" style={colors(accentColor)} aria-hidden="true">
          {name === undefined ? "?" : initialsOf(name)}
        </div>
        <div className="tk-question-body">
          <div className="tk-question-who tk-room tk-rise">
            <Text size={21} fits={44} className="tk-label tk-quiet">
              {name === undefined ? headline : `${headline} · ${name}`}
            </Text>
            {votes !== undefined && votes > 0 && <span className="tk-question-votes">▲ {votes.toLocaleString()}</span>}
          </div>
          <Text size={34} fits={76} lines={4} order={1}>
            {text}
          </Text>
        </div>
      </div>
    </Frame>
  );
}
