/** How many messages of one batch an ordinary viewer receives, beyond those that it always does. */
export const BATCH_LIMIT = 20;

/** A message of a batch. Without a `chatSeq` it is held or muted: only its sender and moderators see it. */
export interface Candidate {
  chatSeq: number | null;
  accountId: string | null;
  /** By a moderator or the site itself, or pinned: everybody receives it. */
  isPriority: boolean;
}

/** Who receives the batch, and the position it has reached. */
export interface Recipient {
  accountId: string | null;
  moderator: boolean;
  position: number;
}

/** Whether the viewer may see this message at all. */
export function maySee(
  { chatSeq, accountId }: Pick<Candidate, "chatSeq" | "accountId">,
  viewer: Pick<Recipient, "accountId" | "moderator">,
): boolean {
  return viewer.moderator || chatSeq !== null || (accountId !== null && accountId === viewer.accountId);
}

/**
 * The messages of a batch that a viewer receives, in order: moderators all, others their own, prioritized ones, and the latest 20 of the
 * rest. `skipped` counts what is left out: messages with a `chatSeq` plus `skipped` are the step from `position` to `upTo`.
 */
export function selectMessages<T extends Candidate>(
  batch: readonly T[],
  upTo: number,
  viewer: Recipient,
): { messages: T[]; skipped: number } {
  const unseen = batch.filter((message) => maySee(message, viewer) && (message.chatSeq === null || message.chatSeq > viewer.position));
  const isGuaranteed = (message: T) => viewer.moderator || message.isPriority || message.chatSeq === null || isOwn(message, viewer);
  let surplus = unseen.filter((message) => !isGuaranteed(message)).length - BATCH_LIMIT;
  const messages = unseen.filter((message) => isGuaranteed(message) || surplus-- <= 0);
  const numbered = messages.filter(({ chatSeq }) => chatSeq !== null).length;
  return { messages, skipped: Math.max(0, upTo - viewer.position) - numbered };
}

function isOwn({ accountId }: Candidate, viewer: Recipient): boolean {
  return accountId !== null && accountId === viewer.accountId;
}
