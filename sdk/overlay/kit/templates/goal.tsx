import { colors, Changing, Crest, Frame, momentOf, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-goal .tk-slab { width: u(800); max-width: 100%; }
.tk-goal-top { position: relative; display: flex; gap: u(18); align-items: center; height: u(74); padding: 0 u(22); overflow: hidden; }
.tk-goal-top::after { position: absolute; inset: 0 auto 0 0; width: 38%; background: linear-gradient(100deg, transparent, rgb(255 255 255 / 42%), transparent); content: ""; transform: translateX(-130%); animation: tk-goal-shine 1100ms ease-out 380ms both; }
.tk-goal-headline { letter-spacing: .05em; line-height: 1; text-transform: uppercase; }
.tk-goal-headline.tk-tall { font-size: calc(var(--size) * var(--fit) * .78); }
.tk-goal-moment { flex: none; font-size: u(42); font-weight: 700; line-height: 1; }
.tk-goal-body { display: flex; gap: u(20); align-items: center; min-height: u(92); padding: u(10) u(22); }
.tk-goal-image { flex: none; align-self: stretch; width: u(96); margin: u(-10) 0 u(-10) u(-22); object-fit: cover; object-position: top; }
.tk-goal:dir(rtl) .tk-goal-image { margin: u(-10) u(-22) u(-10) 0; }
.tk-goal-number { flex: none; font-size: u(52); font-weight: 700; line-height: 1; opacity: .9; }
.tk-goal-score { display: grid; flex: none; grid-template-columns: auto auto; gap: u(4) u(14); max-width: 38%; padding-inline-start: u(20); border-inline-start: max(1px, u(2)) solid var(--hair); align-items: center; }
.tk-goal-score b { font-size: u(32); font-weight: 700; line-height: 1; text-align: center; }
.tk-goal-score .tk-text { text-transform: uppercase; }
@keyframes tk-goal-shine { to { transform: translateX(330%); } }
@container tifo-stage (height < 300px) { .tk-goal-top { height: u(58); } .tk-goal-body { min-height: u(74); padding-block: u(8); } .tk-goal-top .tk-crest { --crest: u(40) !important; } }
@container tifo-stage (width < 560px) { .tk-goal-number { display: none; } .tk-goal-score { max-width: 44%; padding-inline-start: u(14); } }
`;

/** Somebody scores. */
export function Piece({ variables, address, onDismiss, t }: PieceProps<"goal">) {
  const { headline = t("Goal"), playerName, shirtNumber, moment, detail, image, teamName, teamColor, teamCrest, accentColor } = variables;
  const { homeName, awayName, homeScore, awayScore } = variables;
  const hasScore = homeName !== undefined && awayName !== undefined && homeScore !== undefined && awayScore !== undefined;
  return (
    <Frame piece="goal" name={headline} top={colors(teamColor ?? accentColor)} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        <div className="tk-goal-top tk-color tk-bar tk-room" style={colors(teamColor ?? accentColor)}>
          {(teamCrest !== undefined || teamName !== undefined) && (
            <Crest name={teamName} color="#ffffff" image={teamCrest === undefined ? undefined : address(teamCrest)} size={50} />
          )}
          <Text size={62} fits={12} className="tk-goal-headline tk-strong tk-grow" order={1}>
            {headline}
          </Text>
          {moment !== undefined && <span className="tk-goal-moment tk-rise">{momentOf(moment)}</span>}
        </div>
        <div className="tk-goal-body">
          {image !== undefined && <img className="tk-goal-image" src={address(image)} alt="" />}
          {shirtNumber !== undefined && image === undefined && <span className="tk-goal-number tk-rise">{shirtNumber}</span>}
          <div className="tk-grow">
            <Text size={42} fits={hasScore ? 20 : 34} lines={2} className="tk-strong" order={2}>
              {playerName}
            </Text>
            {(detail ?? teamName) !== undefined && (
              <Text size={23} fits={hasScore ? 34 : 60} lines={2} className="tk-quiet" order={3}>
                {detail ?? teamName ?? ""}
              </Text>
            )}
          </div>
          {hasScore && (
            <div className="tk-goal-score tk-rise">
              <Text size={26} fits={14}>
                {homeName}
              </Text>
              <b>
                <Changing value={homeScore} />
              </b>
              <Text size={26} fits={14}>
                {awayName}
              </Text>
              <b>
                <Changing value={awayScore} />
              </b>
            </div>
          )}
        </div>
      </div>
    </Frame>
  );
}
