/** What a tally is read by. */
interface Counted {
  id: string;
  open: boolean;
  hideResults: boolean;
  answers: { id: string; answer: string }[];
  correctAnswerId: string | null;
}

/**
 * A poll's results as everyone may see them: who is ahead stays hidden while an open poll says so, unless `all`; `share` is the part of
 * the total from 0 to 1. `correctAnswerId` is that of a settled poll.
 */
export function resultsOf(poll: Counted, tally: Record<string, number>, all = false) {
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
