import { colors, Changing, Crest, Frame, Text, twoDigits, useSeconds } from "../parts.tsx";
import type { PieceProps, VariablesOf } from "../piece.ts";

type Variables = VariablesOf<"scorebug">;

export const css = `
.tk-scorebug .tk-slab { display: flex; max-width: u(540); }
.tk-scorebug-time { display: grid; flex: none; align-content: center; justify-items: center; gap: u(1); min-width: u(96); padding: u(6) u(14); text-align: center; }
.tk-scorebug-time .tk-label { font-size: u(18); letter-spacing: .05em; }
.tk-scorebug-clock { font-size: u(36); font-weight: 700; line-height: 1; }
.tk-scorebug-teams { display: grid; flex: 1; min-width: 0; padding-inline-end: max(26px, u(34)); }
.tk-scorebug-team { display: flex; align-items: center; gap: u(10); height: u(42); min-width: 0; }
.tk-scorebug-team + .tk-scorebug-team { border-top: max(1px, u(1)) solid var(--hair); }
.tk-scorebug-team::before { flex: none; align-self: stretch; width: u(8); background: var(--color); content: ""; }
@media (forced-colors: active) { .tk-scorebug-team::before { forced-color-adjust: none; } }
.tk-scorebug-team .tk-text { flex: 1; min-width: u(110); text-transform: uppercase; letter-spacing: .02em; }
.tk-scorebug-score { flex: none; min-width: u(46); padding: 0 u(10); font-size: u(34); font-weight: 700; line-height: 1; text-align: center; }
.tk-scorebug-added { position: absolute; top: 100%; inset-inline-start: u(10); padding: u(2) u(10) u(3); border-radius: 0 0 u(4) u(4); font-size: u(19); font-weight: 700; line-height: 1.1; unicode-bidi: plaintext; }
.tk-scorebug:has(.tk-scorebug-added) { margin-bottom: u(27); }
`;

/** The score with a running clock. */
export function Piece({ variables, startsAt, now, address, onDismiss, t }: PieceProps<"scorebug">) {
  const { homeName, awayName, homeScore, awayScore, period, addedTime, accentColor } = variables;
  const sides = [
    { name: homeName, score: homeScore, color: variables.homeColor, crest: variables.homeCrest },
    { name: awayName, score: awayScore, color: variables.awayColor, crest: variables.awayCrest },
  ];
  const hasTime = variables.clockSeconds !== undefined || period !== undefined;
  return (
    <Frame piece="scorebug" name={t("Score")} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        {hasTime && (
          <div className="tk-scorebug-time tk-color" style={colors(accentColor)}>
            {variables.clockSeconds !== undefined && <Clock variables={variables} startsAt={startsAt} now={now} />}
            {period !== undefined && <span className="tk-label">{period}</span>}
          </div>
        )}
        <div className="tk-scorebug-teams">
          {sides.map(({ name, score, color, crest }, index) => (
            <div key={index} className="tk-scorebug-team tk-rise" style={{ ...colors(color), "--i": index }}>
              {crest !== undefined && <Crest name={name} color={color} image={address(crest)} size={30} />}
              <Text size={29} fits={14} className="tk-strong">
                {name}
              </Text>
              <span className="tk-scorebug-score">
                <Changing value={score} />
              </span>
            </div>
          ))}
        </div>
      </div>
      {addedTime !== undefined && (
        <span className="tk-scorebug-added tk-color" style={colors(accentColor)}>
          {addedTime}
        </span>
      )}
    </Frame>
  );
}

function Clock({ variables, startsAt, now }: { variables: Variables; startsAt: number; now: () => number }) {
  const at = useSeconds(now, variables.clockSpeed);
  return <span className="tk-scorebug-clock">{clockText(variables, startsAt, at)}</span>;
}

/** The match clock at a time. */
export function clockText(
  { clockSeconds = 0, clockAt, clockRunning = true, clockSpeed = 1, clockDirection }: Variables,
  startsAt: number,
  at: number,
): string {
  const elapsed = clockRunning ? Math.max(0, Math.floor(((at - (clockAt ?? startsAt)) / 1000) * clockSpeed)) : 0;
  const seconds = clockDirection === "down" ? Math.max(0, clockSeconds - elapsed) : clockSeconds + elapsed;
  return `${twoDigits(Math.floor(seconds / 60))}:${twoDigits(seconds % 60)}`;
}
