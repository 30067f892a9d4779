import { barsOf, type Poll, type PollResults } from "./draft.ts";
import "./poll-bars.css";

/** The counts of a poll's answers as bars; only their total while they are hidden from the caller. */
export function PollBars({ poll, results }: { poll: Poll; results: PollResults | undefined }) {
  const bars = barsOf(poll, results);
  const most = Math.max(...bars.map(({ responses }) => responses));
  return (
    <>
      <p className="tally-total">
        <strong>{(results?.total ?? 0).toLocaleString("en-GB")}</strong> {results?.total === 1 ? "response" : "responses"}
      </p>
      {results?.hidden ? (
        <p className="soft">What they chose is hidden until the poll closes.</p>
      ) : (
        <ol className="tally" aria-label="Results">
          {bars.map(({ id, answer, responses, share, isCorrect }) => (
            <li key={id} className="tally-row" data-leads={responses > 0 && responses === most} data-correct={isCorrect}>
              <span className="tally-answer">
                {answer}
                {isCorrect && <span className="badge badge-correct">Correct</span>}
              </span>
              <span className="tally-count">
                <strong>{`${(share * 100).toFixed(share === 1 || share === 0 ? 0 : 1)} %`}</strong>
                <span className="soft">{responses.toLocaleString("en-GB")}</span>
              </span>
              <span className="tally-track" aria-hidden="true">
                <span style={{ transform: `scaleX(${String(share)})` }} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
