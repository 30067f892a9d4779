import { colors, Crest, Frame, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-line-up .tk-slab { width: u(440); max-width: 100%; }
.tk-line-up-top { display: flex; gap: u(14); align-items: center; padding: u(12) u(18); }
.tk-line-up ul { display: grid; grid-template-columns: minmax(0, 1fr); margin: 0; padding: u(6) 0; list-style: none; }
.tk-line-up li { display: flex; gap: u(12); align-items: center; min-height: u(37); padding: 0 u(18); }
.tk-line-up li + li { border-top: max(1px, u(1)) solid var(--hair); }
.tk-line-up li b { flex: none; width: u(36); font-size: u(26); font-weight: 700; text-align: var(--end); }
.tk-line-up-foot { display: flex; gap: u(10); align-items: center; min-height: u(38); padding: u(4) u(18); background: var(--raised); }
.tk-line-up-formation { flex: none; max-width: 40%; font-size: u(26); font-weight: 700; }
@container tifo-stage (height < 480px) {
  .tk-line-up .tk-slab { width: u(600); }
  .tk-line-up ul { grid-auto-flow: column; grid-template: repeat(var(--rows), auto) / minmax(0, 1fr) minmax(0, 1fr); padding: 0; }
  .tk-line-up ul { --row: min(u(32), (var(--tifo-area-height) - u(130)) / var(--rows)); }
  .tk-line-up li { height: var(--row); min-height: 0; padding: 0 u(12); }
  .tk-line-up li b { font-size: min(u(26), var(--row) * .86); }
  .tk-line-up li .tk-text { font-size: min(var(--size) * var(--fit), var(--row) * .86); }
  .tk-line-up li:nth-child(n) { border-top: 0; }
  .tk-line-up-top { padding-block: u(8); padding-inline-start: u(14); }
  .tk-line-up-foot { min-height: u(30); padding: u(2) u(14); }
  :is(.tk-line-up-top, .tk-line-up-foot) .tk-tall { font-size: calc(var(--size) * var(--fit) * .85); }
}
`;

/** A team's players. */
export function Piece({ variables, address, onDismiss, t }: PieceProps<"line-up">) {
  const { headline = t("Line-up"), teamName, teamColor, teamCrest, formation, coach, accentColor } = variables;
  const players = variables.players.split("\n").map(playerOf);
  return (
    <Frame piece="line-up" name={`${headline}: ${teamName}`} top={colors(teamColor ?? accentColor)} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        <div className="tk-line-up-top tk-color tk-bar tk-room" style={colors(teamColor ?? accentColor)}>
          {teamCrest !== undefined && <Crest name={teamName} color={teamColor} image={address(teamCrest)} size={48} />}
          <div className="tk-grow">
            <Text size={19} fits={30} className="tk-label">
              {headline}
            </Text>
            <Text size={36} fits={18} className="tk-strong">
              {teamName}
            </Text>
          </div>
          {formation !== undefined && (
            <span className="tk-line-up-formation">
              <Text size={26} fits={9}>
                {formation}
              </Text>
            </span>
          )}
        </div>
        <ul style={{ "--rows": Math.ceil(players.length / 2) }}>
          {players.map(({ number, name }, index) => (
            <li key={index} className="tk-rise" style={{ "--i": index * 0.6 }}>
              <b>{number}</b>
              <Text size={25} fits={28} className="tk-grow">
                {name}
              </Text>
            </li>
          ))}
        </ul>
        {coach !== undefined && (
          <div className="tk-line-up-foot">
            <span className="tk-label tk-quiet">{t("Coach")}</span>
            <Text size={24} fits={26} className="tk-grow">
              {coach}
            </Text>
          </div>
        )}
      </div>
    </Frame>
  );
}

/** `9 Ada Moreno` has the number 9; a line without one is a name. */
function playerOf(line: string): { number: string; name: string } {
  const [, number = "", name = line] = /^\s*(\d{1,3})[\s.]+(.+)$/.exec(line) ?? [];
  return { number, name: name.trim() };
}
