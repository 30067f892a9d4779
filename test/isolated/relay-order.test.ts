import fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "#worker/lib/ids.ts";
import { evict, join, newBroadcast, newChannel, type TestChannel, type TestViewer } from "./relay-viewer.ts";

// Whatever happens, what a viewer saw is the channel's log from where it came in: in order, without a gap, once.

type Step =
  | { do: "publish"; endsIn: number; tag: "red" | null }
  | { do: "clear" }
  | { do: "emit" }
  | { do: "state" }
  | { do: "evict"; what: "channel" | "relay" | "presence" }
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
  { weight: 2, arbitrary: fc.record({ do: fc.constant("evict"), what: fc.constantFrom("channel", "relay", "presence") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave"), viewer: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("return"), viewer: fc.nat(2) }) },
);

/** A person with a place in the channel, over several connections. */
interface Person {
  tags: string[];
  relay: number;
  connection: TestViewer | null;
  position: { epoch: string; seq: number };
  seen: number[];
}

async function comeBack(channel: TestChannel, person: Person): Promise<void> {
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
  const under: Promise<unknown>[] = [];
  for (const [i, step] of steps.entries()) {
    const person = "viewer" in step ? people[step.viewer] : undefined;
    const id = newId(i);
    if (step.do === "publish") {
      under.push(
        channel.stub.publish(newBroadcast({ endsAt: Date.now() + step.endsIn, ...(step.tag ? { segment: { tags: [step.tag] } } : {}) })),
      );
    } else if (step.do === "clear") under.push(channel.stub.clear({ id, target: { all: true } }));
    else if (step.do === "emit") under.push(channel.stub.emit({ id, type: "quest.updated", data: {} }));
    else if (step.do === "state") under.push(channel.stub.state({ key: "a", type: "poll.updated", at: i, data: "{}" }));
    else if (step.do === "evict")
      await evict({ channel: channel.stub, relay: channel.relay(i % 2), presence: channel.presence }[step.what]);
    else if (person) await (step.do === "leave" ? leave(person) : comeBack(channel, person));
  }
  await Promise.all(under);
}

test("every viewer sees the log in order, without a gap, once, through evictions, departures and returns", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const channel = newChannel();
      await channel.stub.grow(1);
      const { epoch } = await (await join(channel)).first("welcome");
      const newcomer = (tags: string[], relay: number): Person => ({
        tags,
        relay,
        connection: null,
        position: { epoch, seq: 0 },
        seen: [],
      });
      const people = [newcomer([], 0), newcomer(["red"], 0), newcomer([], 1)];
      await play(channel, people, steps);
      const { seq: end } = await channel.stub.emit({ id: newId(0), type: "rule", data: {} });
      const log = await channel.stub.framesAfter(epoch, 0, 1000);
      for (const person of people) {
        await comeBack(channel, person);
        await person.connection?.waitForSeq(end);
        await leave(person);
        const expected =
          log?.filter((frame) => frame.tags === null || frame.tags.some((tag) => person.tags.includes(tag))).map((frame) => frame.seq) ??
          [];
        expect(person.seen.filter((seq) => seq <= end)).toEqual(expected.filter((seq) => seq <= end));
      }
    }),
    { numRuns: 15 },
  );
});
