/** A poll's tally from the channel. */
export interface Tally {
  pollId: string;
  open: boolean;
  total: number;
  answers: { answerId: string; answer: string; share: number; right: boolean }[];
}

/** A quest from the channel. */
export interface QuestUpdate {
  title: string;
  description: string;
  rewardDescription: string;
}

type Data = Record<string, unknown>;

/** The tally in a `poll.updated`; undefined if the poll hides its results. */
export function tallyIn({ pollId, open, total, answers, correctAnswerId }: Data): Tally | undefined {
  if (typeof pollId !== "string" || typeof total !== "number" || !Array.isArray(answers)) return undefined;
  const counted = answers.filter(isCounted);
  if (counted.length === 0 || counted.length < answers.length) return undefined;
  return {
    ...{ pollId, total, open: open === true },
    answers: counted.map(({ answerId, answer, share }) => ({ answerId, answer, share, right: answerId === correctAnswerId })),
  };
}

/** The quest in a `quest.updated`; undefined once it is deleted. */
export function questIn({ title, description, rewardDescription, deleted }: Data): QuestUpdate | undefined {
  if (deleted === true || typeof title !== "string") return undefined;
  return { title, description: textOf(description), rewardDescription: textOf(rewardDescription) };
}

function isCounted(value: unknown): value is { answerId: string; answer: string; share: number } {
  return (
    typeof value === "object" &&
    value !== null &&
    "answerId" in value &&
    "answer" in value &&
    "share" in value &&
    typeof value.answerId === "string" &&
    typeof value.answer === "string" &&
    typeof value.share === "number"
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
