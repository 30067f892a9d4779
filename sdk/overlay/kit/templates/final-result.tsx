import { colors, Changing, Crest, Frame, Text } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-final-result .tk-slab { width: u(820); max-width: 100%; }
.tk-final-result-top { padding: u(10) max(30px, u(44)); text-align: center; }
.tk-final-result-teams { display: grid; grid-template-columns: minmax(0, 1fr) auto minmax(0, 1fr); align-items: center; padding: u(20) u(20) u(14); }
.tk-final-result-team { display: grid; gap: u(10); justify-items: center; min-width: 0; text-align: center; }
.tk-final-result-team .tk-text { max-width: 100%; }
.tk-final-result-score { display: flex; gap: u(18); align-items: center; padding: 0 u(16); font-size: u(104); font-weight: 700; line-height: .95; }
.tk-final-result-score[data-long] { font-size: u(56); }
.tk-final-result-score i { width: u(26); height: u(7); background: var(--quiet); border-radius: u(3); }
.tk-final-result-details { display: grid; grid-template-columns: 1fr 1fr; gap: u(24); padding: u(10) u(24) u(14); background: var(--raised); }
.tk-final-result-details .tk-text { white-space: pre-line; text-align: var(--end); }
.tk-final-result-details .tk-text + .tk-text { text-align: var(--start); }
.tk-final-result-bars { display: grid; grid-template-columns: 1fr 1fr; height: u(8); }
.tk-final-result-bars i { background: var(--color); }
.tk-final-result-bars i:first-child { --origin: right; }
.tk-final-result:dir(rtl) .tk-final-result-bars i:first-child { --origin: left; }
@media (forced-colors: active) { .tk-final-result-score i { background: CanvasText; } .tk-final-result-bars i { forced-color-adjust: none; } }
@container tifo-stage (width < 560px) {
  .tk-final-result-score { gap: u(12); padding: 0 u(8); }
  .tk-final-result-score[data-long] { font-size: u(34); gap: u(8); }
  .tk-final-result-team .tk-crest { --crest: u(60) !important; }
}
@container tifo-stage (height < 300px) {
  .tk-final-result-teams { padding-block: u(10) u(8); }
  .tk-final-result-details { padding-block: u(5) u(7); }
  .tk-final-result-details .tk-text { --lines: 2 !important; }
}
`;

/** The result, with what made it. */
export function Piece({ variables, address, onDismiss, t }: PieceProps<"final-result">) {
  const { homeScore, awayScore, headline = t("Final result"), competition, homeDetail, awayDetail, accentColor } = variables;
  const sides = [
    { name: variables.homeName, color: variables.homeColor, crest: variables.homeCrest },
    { name: variables.awayName, color: variables.awayColor, crest: variables.awayCrest },
  ];
  const [home, away] = sides.map(({ name, color, crest }, index) => (
    <div key={index} className="tk-final-result-team">
      <Crest name={name} color={color} image={crest === undefined ? undefined : address(crest)} size={86} />
      <Text size={32} fits={18} lines={2} className="tk-strong" order={index + 1}>
        {name}
      </Text>
    </div>
  ));
  const isLong = `${homeScore}${awayScore}`.length > 5;
  return (
    <Frame piece="final-result" name={headline} top={colors(accentColor)} onDismiss={onDismiss} t={t}>
      <div className="tk-slab">
        <div className="tk-final-result-top tk-color" style={colors(accentColor)}>
          <Text size={24} fits={52} className="tk-label">
            {competition === undefined ? headline : `${headline} · ${competition}`}
          </Text>
        </div>
        <div className="tk-final-result-teams">
          {home}
          <div className="tk-final-result-score tk-rise" data-long={isLong || undefined}>
            <Changing value={homeScore} />
            <i aria-hidden="true" />
            <Changing value={awayScore} />
          </div>
          {away}
        </div>
        <div className="tk-final-result-bars" aria-hidden="true">
          {sides.map(({ color }, index) => (
            <i key={index} className="tk-bar" style={colors(color)} />
          ))}
        </div>
        {(homeDetail ?? awayDetail) !== undefined && (
          <div className="tk-final-result-details tk-rise" style={{ "--i": 4 }}>
            <Text size={23} fits={60} lines={4} className="tk-quiet">
              {homeDetail ?? ""}
            </Text>
            <Text size={23} fits={60} lines={4} className="tk-quiet">
              {awayDetail ?? ""}
            </Text>
          </div>
        )}
      </div>
    </Frame>
  );
}
