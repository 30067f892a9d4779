import { colors, Frame, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-poll .tk-slab { width: u(480); max-width: 100%; }
.tk-poll .tk-slab { display: flex; flex-direction: column; }
.tk-poll-top { flex: none; padding: u(9) u(18); }
.tk-poll-body { display: grid; grid-template-columns: minmax(0, 1fr); grid-auto-rows: max-content; gap: u(8); min-height: 0; padding: u(14) u(18) u(16); overflow-y: auto; pointer-events: auto; scrollbar-width: thin; }
.tk-poll-answer { position: relative; display: flex; gap: u(12); align-items: center; width: 100%; min-height: max(26px, u(48)); padding: u(6) u(14); overflow: hidden; border: max(1px, u(2)) solid transparent; border-radius: u(4); color: inherit; background: var(--raised); font: inherit; text-align: var(--start); pointer-events: auto; cursor: pointer; }
.tk-poll-answer::before { position: absolute; inset: 0; background: var(--color); opacity: .34; content: ""; transform: scaleX(var(--share)); transform-origin: left; transition: transform 600ms var(--ease); }
.tk-poll:dir(rtl) .tk-poll-answer::before { transform-origin: right; }
.tk-poll-answer > * { position: relative; }
.tk-poll-answer[aria-disabled="true"] { cursor: default; }
.tk-poll-answer[aria-disabled="false"]:hover { border-color: var(--color); }
.tk-poll-answer[aria-pressed="true"] { border-color: var(--color); }
.tk-poll-answer b { flex: none; font-size: u(28); font-weight: 700; }
@media (forced-colors: active) { .tk-poll-answer::before { background: Highlight; } }
.tk-poll-total { font-size: u(20); unicode-bidi: plaintext; }
.tk-poll-problem:empty { display: none; }
@container tifo-stage (height < 300px) {
  .tk-poll-top { padding: u(4) u(14); }
  .tk-poll-body { gap: u(5); padding: u(7) u(14) u(9); }
  .tk-poll-answer { min-height: 24px; padding: 0 u(12); }
  .tk-poll-total { display: none; }
}
`;

/** A poll with live bars, answered on the overlay. */
export function Piece({ variables: { headline, accentColor }, poll, onDismiss, t }: PieceProps<"poll">) {
  // It appears once the poll has been read.
  if (!poll) return null;
  const mayAnswer = poll.open && poll.myAnswerId === undefined;
  return (
    <Frame piece="poll" name={poll.question} top={colors(accentColor)} onDismiss={onDismiss} t={t}>
      <div className="tk-slab" style={colors(accentColor)}>
        <div className="tk-poll-top tk-color tk-bar tk-room">
          <Text size={20} fits={34} className="tk-label">
            {headline ?? poll.kind}
          </Text>
        </div>
        <div className="tk-poll-body">
          <Text size={34} fits={30} lines={3} className="tk-strong" order={0}>
            {poll.question}
          </Text>
          {poll.answers.map(({ answerId, answer, share }, index) => (
            <button
              key={answerId}
              type="button"
              className="tk-poll-answer tk-rise"
              style={{ "--i": index + 1, "--share": share ?? 0 }}
              aria-pressed={poll.myAnswerId === answerId}
              aria-disabled={!mayAnswer}
              onClick={() => mayAnswer && poll.answer(answerId)}
            >
              <Text size={26} fits={26} lines={2} className="tk-grow">
                {poll.correctAnswerId === answerId ? `✓ ${answer}` : answer}
              </Text>
              {share !== undefined && <b>{Math.round(share * 100)}%</b>}
            </button>
          ))}
          {poll.total !== undefined && (
            <p className="tk-poll-total tk-quiet">{t("{count, plural, one {# answer} other {# answers}}", { count: poll.total })}</p>
          )}
          <p className="tk-poll-problem" role="alert">
            {poll.problem}
          </p>
        </div>
      </div>
    </Frame>
  );
}
