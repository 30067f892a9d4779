import { colors, Crest, Frame, momentOf, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-substitution .tk-slab { min-width: u(400); max-width: u(580); }
.tk-substitution-top { display: flex; gap: u(12); align-items: center; height: u(46); padding: 0 u(16); }
.tk-substitution-row { display: flex; gap: u(14); align-items: center; min-height: u(58); padding: u(8) u(18) u(8) u(16); }
.tk-substitution-row + .tk-substitution-row { border-top: max(1px, u(1)) solid var(--hair); }
.tk-substitution-row svg { flex: none; width: u(28); height: u(28); padding: u(5); border-radius: 50%; color: #fff; background: var(--arrow); }
.tk-substitution-number { flex: none; min-width: u(38); font-size: u(32); font-weight: 700; text-align: center; }
`;

const UP = "M6 11V1M1.5 5.5 6 1l4.5 4.5";
const DOWN = "M6 1v10M1.5 6.5 6 11l4.5-4.5";

/** Who comes on and who goes off. */
export function Piece({ variables, address, onDismiss, t }: PieceProps<"substitution">) {
  const { headline = t("Substitution"), moment, teamName, teamColor, teamCrest, accentColor } = variables;
  const rows = [
    { name: variables.inName, number: variables.inNumber, arrow: "#0a8f3c", path: UP, label: t("On|substitution") },
    { name: variables.outName, number: variables.outNumber, arrow: "#d3121d", path: DOWN, label: t("Off|substitution") },
  ];
  return (
    <Frame piece="substitution" name={headline} top={colors(teamColor ?? accentColor)} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        <div className="tk-substitution-top tk-color tk-bar tk-room" style={colors(teamColor ?? accentColor)}>
          {teamCrest !== undefined && <Crest name={teamName} color={teamColor} image={address(teamCrest)} size={30} />}
          <Text size={21} fits={34} className="tk-label tk-grow">
            {[headline, moment === undefined ? undefined : momentOf(moment)].filter(Boolean).join(" · ")}
          </Text>
        </div>
        {rows.map(({ name, number, arrow, path, label }, index) => (
          <div key={label} className="tk-substitution-row tk-rise" style={{ "--i": index, "--arrow": arrow }}>
            <svg
              viewBox="0 0 12 12"
              role="img"
              aria-label={label}
              fill="none"
              stroke="currentColor"
              strokeWidth="2.2"
              strokeLinecap="round"
            >
              <path d={path} strokeLinejoin="round" />
            </svg>
            {number !== undefined && <span className="tk-substitution-number">{number}</span>}
            <Text size={34} fits={24} lines={2} className={`tk-grow ${index === 0 ? "tk-strong" : "tk-quiet"}`}>
              {name}
            </Text>
          </div>
        ))}
      </div>
    </Frame>
  );
}
