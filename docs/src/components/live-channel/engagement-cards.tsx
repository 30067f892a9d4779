import { useEffect, useState } from "react";
import { questionOf } from "./demo.ts";
import type { QuestUpdate, Tally } from "./engagement.ts";

/** Content next to the video: the poll that is being answered, and the quest that last changed. */
export function EngagementCards({ tally, quest }: { tally: Tally | undefined; quest: QuestUpdate | undefined }) {
  if (tally === undefined && quest === undefined) return null;
  return (
    <div className="beside">
      {tally !== undefined && <PollCard tally={tally} />}
      {quest !== undefined && (
        <section>
          <h3>{quest.title}</h3>
          <p>{quest.description}</p>
          <p className="small">{quest.rewardDescription}</p>
        </section>
      )}
    </div>
  );
}

function PollCard({ tally: { pollId, open, total, answers } }: { tally: Tally }) {
  const question = useQuestion(pollId);
  const settled = answers.some(({ right }) => right);
  return (
    <section>
      <h3>{question ?? "Poll"}</h3>
      <ul>
        {answers.map(({ answerId, answer, share, right }) => (
          <li key={answerId} data-right={right} style={{ backgroundSize: `${share * 100}% 100%` }}>
            <span>
              {answer}
              {right && " ✓"}
            </span>
            <span>{Math.round(share * 100)}%</span>
          </li>
        ))}
      </ul>
      <p className="small">
        {total === 1 ? "1 answer" : `${total} answers`} · {settled ? "settled" : open ? "open" : "closed"}
      </p>
    </section>
  );
}

/** A poll's question, which its tallies don't contain. */
function useQuestion(pollId: string): string | undefined {
  const [known, setKnown] = useState<{ pollId: string; question: string | undefined }>();
  useEffect(() => {
    let wanted = true;
    questionOf(pollId).then(
      (question) => wanted && setKnown({ pollId, question }),
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [pollId]);
  return known?.pollId === pollId ? known.question : undefined;
}
