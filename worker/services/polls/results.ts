/** The poll fields that results depend on. */
interface TalliedPoll {
  id: string;
  open: boolean;
  hideResults: boolean;
  answers: { id: string; answer: string }[];
  correctAnswerId: string | null;
}

/**
 * A poll's results. Counts are omitted while the poll is open and hides them, unless `all`; `share` is the fraction of the total,
 * from 0 to 1. `correctAnswerId` must only be given for a settled poll.
 */
export function resultsOf(poll: TalliedPoll, tally: Record<string, number>, all = false) {
  const { id, open, answers, correctAnswerId } = poll;
  const total = answers.reduce((sum, answer) => sum + (tally[answer.id] ?? 0), 0);
  const hidden = open && poll.hideResults && !all;
  return {
    pollId: id,
    open,
    total,
    hidden,
    answers: answers.map((answer) => {
      const responses = tally[answer.id] ?? 0;
      const share = total === 0 ? 0 : Math.round((responses / total) * 10_000) / 10_000;
      return { answerId: answer.id, answer: answer.answer, ...(hidden ? {} : { responses, share }) };
    }),
    ...(correctAnswerId === null ? {} : { correctAnswerId }),
  };
}
