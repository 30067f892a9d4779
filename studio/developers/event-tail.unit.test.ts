import { expect, test } from "vitest";
import { matches, MOST_SHOWN, type SiteEvent, withLater } from "./event-tail.ts";

function event(sequence: number, fields: Partial<SiteEvent> = {}): SiteEvent {
  const ids = { id: String(sequence), resource: "overlay/1", actor: "developer:1", requestId: "request-1" };
  return { ...ids, type: "overlay.broadcast", created: 0, sequence, previousSequence: null, data: {}, ...fields };
}

const sequences = (events: SiteEvent[]) => events.map(({ sequence }) => sequence);

test("later events come first, each once, whichever response has them twice", () => {
  const first = withLater([], [event(1), event(2)]);
  expect(sequences(first)).toEqual([2, 1]);
  expect(sequences(withLater(first, [event(2), event(3), event(4)]))).toEqual([4, 3, 2, 1]);
});

test("the oldest leave the screen", () => {
  const many = withLater(
    [],
    Array.from({ length: MOST_SHOWN }, (_, index) => event(index + 1)),
  );
  const next = withLater(many, [event(MOST_SHOWN + 1)]);
  expect(next).toHaveLength(MOST_SHOWN);
  expect([next[0]?.sequence, next.at(-1)?.sequence]).toEqual([MOST_SHOWN + 1, 2]);
});

test("events are found by type, resource, actor and request, whatever the case", () => {
  const found = event(1, { resource: "poll/Abc" });
  for (const text of ["", " POLL/abc ", "broadcast", "developer", "request-1"]) expect(matches(found, text), text).toBe(true);
  expect(matches(found, "quest/")).toBe(false);
});
