import type { LogEntry } from "./channel-view.ts";
import { LOG_LENGTH } from "./channel-view.ts";

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

/** The latest frames in both directions, newest first. */
export function FrameLog({ log }: { log: LogEntry[] }) {
  return (
    <details className="frame-log">
      <summary>Last {LOG_LENGTH} frames</summary>
      {log.length === 0 ? (
        <p>None yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Direction</th>
              <th scope="col">seq</th>
              <th scope="col">Frame</th>
              <th scope="col">Details</th>
            </tr>
          </thead>
          <tbody>
            {log.map(({ id, at, sent, seq, type, detail }) => (
              <tr key={id}>
                <td>{CLOCK.format(at)}</td>
                <td>{sent ? "out" : "in"}</td>
                <td>{seq}</td>
                <td>{type}</td>
                <td>{detail}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
