import { colors, Frame, Text, twoDigits, useSeconds } from "../parts.tsx";
import type { PieceProps } from "../piece.ts";

export const css = `
.tk-countdown .tk-slab { min-width: u(270); max-width: u(440); border-top: u(7) solid var(--color); }
.tk-countdown-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: u(4); padding: u(12) u(20) u(16); }
.tk-countdown-time { display: flex; gap: u(8); align-items: baseline; font-size: u(62); font-weight: 700; line-height: 1; }
.tk-countdown-time small { margin-inline-start: u(-4); font-size: u(24); color: var(--quiet); }
`;

const DAY = 86_400;
const MOST_DAYS = 999;

/** The time that is left. */
export function Piece({ variables, now, onDismiss, t }: PieceProps<"countdown">) {
  const { endsAt, headline, detail, doneText, accentColor } = variables;
  const left = Math.max(0, Math.ceil((endsAt - useSeconds(now)) / 1000));
  const days = Math.min(MOST_DAYS, Math.floor(left / DAY));
  return (
    <Frame piece="countdown" name={headline} onDismiss={onDismiss} t={t}>
      <div className="tk-slab" style={colors(accentColor)}>
        <div className="tk-countdown-body">
          <Text size={22} fits={26} lines={2} className="tk-label tk-room tk-quiet" order={0}>
            {headline}
          </Text>
          <div className="tk-countdown-time tk-rise" role="timer">
            {left === 0 && doneText !== undefined ? (
              <Text size={52} fits={12} lines={2}>
                {doneText}
              </Text>
            ) : (
              <>
                {days > 0 && (
                  <>
                    {days} <small>d</small>
                  </>
                )}
                <span>{timeText(left)}</span>
              </>
            )}
          </div>
          {detail !== undefined && (
            <Text size={23} fits={34} lines={2} className="tk-quiet" order={2}>
              {detail}
            </Text>
          )}
        </div>
      </div>
    </Frame>
  );
}

/** Hours only if there are any, and without days. */
function timeText(left: number): string {
  const [hours, minutes, seconds] = [Math.floor((left % DAY) / 3600), Math.floor((left % 3600) / 60), left % 60];
  const tail = `${twoDigits(minutes)}:${twoDigits(seconds)}`;
  return left >= 3600 ? `${twoDigits(hours)}:${tail}` : tail;
}
