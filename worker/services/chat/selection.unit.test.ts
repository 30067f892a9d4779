import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BATCH_LIMIT, type Candidate, maySee, type Recipient, selectMessages } from "./selection.ts";

const viewer: Recipient = { accountId: "me", moderator: false, position: 0 };
const message = (chatSeq: number | null, accountId = "other", isPriority = false): Candidate => ({ chatSeq, accountId, isPriority });
const numbered = (count: number, from = 1) => Array.from({ length: count }, (_, index) => message(from + index));
const seqs = (messages: Candidate[]) => messages.map(({ chatSeq }) => chatSeq);

describe("selectMessages", () => {
  test("gives an ordinary viewer the latest 20 messages of a batch", () => {
    const { messages, skipped } = selectMessages(numbered(50), 50, viewer);
    expect(seqs(messages)).toEqual(seqs(numbered(20, 31)));
    expect(skipped).toBe(30);
  });

  test("gives moderators everything", () => {
    const batch = [...numbered(50), message(null)];
    expect(selectMessages(batch, 50, { ...viewer, moderator: true })).toEqual({ messages: batch, skipped: 0 });
  });

  test("adds own and prioritized messages to the 20", () => {
    const batch = [message(1, "me"), message(2, "other", true), ...numbered(30, 3)];
    const { messages, skipped } = selectMessages(batch, 32, viewer);
    expect(seqs(messages)).toEqual([1, 2, ...seqs(numbered(20, 13))]);
    expect(skipped).toBe(10);
  });

  test("shows a held or muted message only to its sender and moderators", () => {
    const batch = [message(null, "me"), message(null, "other")];
    expect(selectMessages(batch, 0, viewer).messages).toEqual([message(null, "me")]);
    expect(selectMessages(batch, 0, { ...viewer, accountId: null }).messages).toEqual([]);
    expect(selectMessages(batch, 0, { ...viewer, moderator: true }).messages).toEqual(batch);
  });

  test("leaves out what the viewer has already received", () => {
    expect(seqs(selectMessages(numbered(5), 5, { ...viewer, position: 3 }).messages)).toEqual([4, 5]);
  });

  test("counts removed messages of a batch as skipped", () => {
    expect(selectMessages([message(1), message(4)], 4, viewer).skipped).toBe(2);
  });

  test("accounts for every position of any sequence of batches", () => {
    const draft = fc.record({ numbered: fc.boolean(), accountId: fc.constantFrom("me", "other", null), isPriority: fc.boolean() });
    const batches = fc.array(fc.array(draft, { maxLength: 60 }), { maxLength: 6 });
    fc.assert(
      fc.property(batches, fc.boolean(), (drafts, moderator) => {
        let head = 0;
        let position = 0;
        for (const drafted of drafts) {
          const batch = drafted.map(({ numbered: hasSeq, ...rest }) => ({ ...rest, chatSeq: hasSeq ? ++head : null }));
          const recipient = { accountId: "me", moderator, position };
          const { messages, skipped } = selectMessages(batch, head, recipient);
          const received = messages.filter(({ chatSeq }) => chatSeq !== null);
          expect(received.length + skipped).toBe(head - position);
          expect(messages.every((one) => maySee(one, recipient))).toBe(true);
          const others = messages.filter((one) => one.accountId !== "me" && !one.isPriority);
          if (!moderator) expect(others.length).toBeLessThanOrEqual(BATCH_LIMIT);
          position = head;
        }
      }),
    );
  });
});
