import { key } from "../../../i18n/key.ts";
import { colors, Frame, momentOf, Text } from "../parts.tsx";
import type { PieceProps, VariablesOf } from "../piece.ts";

const CARDS: Record<VariablesOf<"card">["card"], { name: string; colors: readonly string[] }> = {
  yellow: { name: key("Yellow card"), colors: ["#ffd400"] },
  secondYellow: { name: key("Second yellow"), colors: ["#ffd400", "#e30b17"] },
  red: { name: key("Red card"), colors: ["#e30b17"] },
  green: { name: key("Green card"), colors: ["#00a651"] },
  blue: { name: key("Blue card"), colors: ["#1769ff"] },
  white: { name: key("White card"), colors: ["#f7f9ff"] },
};

export const css = `
.tk-card .tk-slab { display: flex; max-width: u(580); border-inline-start: u(8) solid var(--color); }
.tk-card-picture { position: relative; flex: none; width: u(104); background: var(--raised); perspective: u(400); }
.tk-card-picture i { position: absolute; top: 50%; left: 50%; width: u(46); height: u(64); margin: u(-32) 0 0 u(-23); border-radius: u(5); background: linear-gradient(135deg, rgb(255 255 255 / 35%), transparent 55%), var(--card); box-shadow: 0 u(4) u(10) rgb(0 0 0 / 35%); transform: rotate(8deg); animation: tk-card-turn 700ms var(--ease) 220ms both; }
.tk-card-picture i + i { transform: translate(u(12), u(6)) rotate(16deg); animation-name: tk-card-second; animation-delay: 520ms; }
@media (forced-colors: active) { .tk-card-picture i { forced-color-adjust: none; } }
.tk-card-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: u(4); align-content: center; min-width: u(230); min-height: u(104); padding: u(14) u(20); }
@keyframes tk-card-turn { from { opacity: 0; transform: rotateY(120deg) rotate(-10deg) scale(.7); } }
@keyframes tk-card-second { from { opacity: 0; transform: translate(u(-10), u(-6)) rotate(8deg); } }
`;

/** A booking, with the card that was shown. */
export function Piece({ variables, onDismiss, t }: PieceProps<"card">) {
  const { card, playerName, shirtNumber, moment, detail, teamName, teamColor, accentColor } = variables;
  const headline = variables.headline ?? t(CARDS[card].name);
  const label = moment === undefined ? headline : `${headline} · ${momentOf(moment)}`;
  return (
    <Frame piece="card" name={headline} onDismiss={onDismiss} t={t}>
      <div className="tk-slab" style={colors(teamColor ?? accentColor)}>
        <div className="tk-card-picture" aria-hidden="true">
          {CARDS[card].colors.map((color) => (
            <i key={color} style={{ "--card": color }} />
          ))}
        </div>
        <div className="tk-card-body">
          <Text size={20} fits={30} className="tk-label tk-quiet tk-room" order={0}>
            {label}
          </Text>
          <Text size={38} fits={22} lines={2} className="tk-strong" order={1}>
            {shirtNumber === undefined ? playerName : `${shirtNumber}  ${playerName}`}
          </Text>
          {(detail ?? teamName) !== undefined && (
            <Text size={22} fits={38} lines={2} className="tk-quiet" order={2}>
              {detail ?? teamName ?? ""}
            </Text>
          )}
        </div>
      </div>
    </Frame>
  );
}
