import { colors, Frame, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-breaking-news { width: var(--tifo-area-width); }
.tk-breaking-news .tk-slab { display: flex; }
.tk-breaking-news .tk-close { color: inherit; }
.tk-breaking-news-label { display: flex; flex: none; gap: u(12); align-items: center; max-width: 30%; padding: 0 u(24); font-size: u(30); font-weight: 700; letter-spacing: .05em; }
.tk-breaking-news-label::before { flex: none; width: u(13); height: u(13); border-radius: 50%; background: currentcolor; content: ""; animation: tk-breaking-pulse 1400ms ease-in-out infinite; }
@media (forced-colors: active) { .tk-breaking-news-label::before { background: CanvasText; } }
.tk-breaking-news-body { flex: 1; min-width: 0; padding: u(13) u(24) u(15); }
@keyframes tk-breaking-pulse { 50% { opacity: .25; transform: scale(.8); } }
@container tifo-stage (width < 560px) { .tk-breaking-news .tk-slab { flex-direction: column; } .tk-breaking-news .tk-close { color: var(--on-color); } .tk-breaking-news-label { max-width: none; padding: u(5) u(16); font-size: u(20); } .tk-breaking-news-body { padding: u(8) u(16) u(10); } }
`;

const ALERT = "#d3121d";

/** A headline across the bottom of the screen. */
export function Piece({ variables, onDismiss, t }: PieceProps<"breaking-news">) {
  const { headline, detail, label = t("Breaking"), accentColor } = variables;
  return (
    <Frame piece="breaking-news" name={label} top={colors(accentColor ?? ALERT)} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        <div className="tk-breaking-news-label tk-color tk-bar" style={colors(accentColor ?? ALERT)}>
          <Text size={30} fits={12} lines={2} className="tk-label">
            {label}
          </Text>
        </div>
        <div className="tk-breaking-news-body tk-room">
          <Text size={44} fits={52} lines={2} className="tk-strong" order={1}>
            {headline}
          </Text>
          {detail !== undefined && (
            <Text size={25} fits={100} lines={2} className="tk-quiet" order={2}>
              {detail}
            </Text>
          )}
        </div>
      </div>
    </Frame>
  );
}
