import fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "#worker/lib/ids.ts";
import { evict, join, newBroadcast, newChannel, PLACES, type TestChannel, type TestViewer } from "./relay-viewer.ts";

// Whatever happens, a viewer receives the channel's log from its own start: in order, without gaps, each frame once.

type Step =
  | { do: "publish"; endsIn: number; tag: "red" | null }
  | { do: "clear" }
  | { do: "emit" }
  | { do: "state" }
  | { do: "evict"; what: "channel" | "relay" | "branch" | "presence" }
  | { do: "leave"; viewer: number }
  | { do: "return"; viewer: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("publish"), endsIn: fc.constantFrom(20, 60_000), tag: fc.constantFrom("red", null) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "clear" } as const) },
  { weight: 3, arbitrary: fc.constant({ do: "emit" } as const) },
  { weight: 1, arbitrary: fc.constant({ do: "state" } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("evict"), what: fc.constantFrom("channel", "relay", "branch", "presence") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave"), viewer: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("return"), viewer: fc.nat(2) }) },
);

/** A viewer with a position in the channel, over several connections. */
interface Person {
  tags: string[];
  relay: number;
  connection: TestViewer | null;
  position: { epoch: string; seq: number };
  seen: number[];
}

async function reconnect(channel: TestChannel, person: Person): Promise<void> {
  if (person.connection) return;
  const { tags, relay, position } = person;
  person.connection = await join(channel, { tags, relay, resume: position });
  expect((await person.connection.first("welcome")).recovered).toBe(true);
}

async function leave(person: Person): Promise<void> {
  const { connection } = person;
  if (!connection) return;
  connection.close();
  await connection.closed;
  person.seen.push(...connection.log);
  person.position.seq = connection.position;
  person.connection = null;
}

async function play(channel: TestChannel, people: Person[], steps: Step[]): Promise<void> {
  const pending: Promise<unknown>[] = [];
  for (const [i, step] of steps.entries()) {
    const person = "viewer" in step ? people[step.viewer] : undefined;
    const id = newId(i);
    if (step.do === "publish") {
      pending.push(
        channel.stub.publish(newBroadcast({ endsAt: Date.now() + step.endsIn, ...(step.tag ? { segment: { tags: [step.tag] } } : {}) })),
      );
    } else if (step.do === "clear") pending.push(channel.stub.clear({ id, target: { all: true } }));
    else if (step.do === "emit") pending.push(channel.stub.emit({ id, type: "quest.updated", data: {} }));
    else if (step.do === "state") pending.push(channel.stub.state({ key: "a", type: "poll.updated", at: i, data: "{}" }));
    else if (step.do === "evict")
      await evict({ channel: channel.stub, relay: channel.relay(i % 2), branch: channel.branch(), presence: channel.presence }[step.what]);
    else if (person) await (step.do === "leave" ? leave(person) : reconnect(channel, person));
  }
  await Promise.all(pending);
}

const TITLE =
  "every viewer receives the log in order, without gaps and once, through evictions, disconnects and reconnects, on relays $place";

test.each(PLACES)(TITLE, async ({ firstRelay }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const channel = newChannel(undefined, firstRelay);
      await channel.stub.grow(1);
      const { epoch } = await (await join(channel)).first("welcome");
      const newPerson = (tags: string[], relay: number): Person => ({
        tags,
        relay,
        connection: null,
        position: { epoch, seq: 0 },
        seen: [],
      });
      const people = [newPerson([], 0), newPerson(["red"], 0), newPerson([], 1)];
      await play(channel, people, steps);
      const { seq: end } = await channel.stub.emit({ id: newId(0), type: "rule", data: {} });
      const log = await channel.stub.framesAfter(epoch, 0, 1000);
      for (const person of people) {
        await reconnect(channel, person);
        await person.connection?.waitForSeq(end);
        await leave(person);
        const expected =
          log?.filter((frame) => frame.tags === null || frame.tags.some((tag) => person.tags.includes(tag))).map((frame) => frame.seq) ??
          [];
        expect(person.seen.filter((seq) => seq <= end)).toEqual(expected.filter((seq) => seq <= end));
      }
    }),
    { numRuns: 8 },
  );
});
