import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Delivered, LogFrame, Push } from "./channel.protocol.ts";
import { FanOut } from "./fan-out.ts";

function frame(seq: number): LogFrame {
  return { seq, body: String(seq), tags: null, shows: null, clears: [], rule: null };
}

/** A log whose frames up to `pruned` are no longer stored. */
class TestLog {
  readonly epoch = "e";
  head = 0;
  pruned = 0;

  framesAfter(seq: number, limit: number): LogFrame[] | null {
    if (seq < this.pruned) return null;
    return Array.from({ length: Math.min(limit, this.head - seq) }, (_, i) => frame(seq + 1 + i));
  }
}

/** A relay that follows the contract and fails on demand. */
class TestRelay {
  head = 0;
  received: number[] = [];
  pushes: Push[] = [];
  inFlight = 0;
  failures = 0;
  listening = true;

  async deliver(push: Push): Promise<Delivered> {
    this.pushes.push(push);
    expect(this.inFlight++).toBe(0);
    await Promise.resolve();
    this.inFlight--;
    if (this.failures-- > 0) throw new Error("down");
    if (!this.listening || push.lost) return { head: null, sockets: 0, idle: true };
    const fresh = push.frames.filter((each) => each.seq > this.head);
    if (fresh[0]?.seq === this.head + 1) {
      this.received.push(...fresh.map((each) => each.seq));
      this.head = fresh.at(-1)?.seq ?? this.head;
    }
    return { head: this.head, sockets: 1, idle: false };
  }
}

function setUp(relays = 1, floor = 0) {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.useFakeTimers({ now: 1_000_000 });
  const log = new TestLog();
  const all = Array.from({ length: relays }, () => new TestRelay());
  const fanOut = new FanOut(log, (relay, push) => all[relay]?.deliver(push) ?? Promise.reject(new Error("no relay")), relays, floor);
  const append = (count = 1) => {
    log.head += count;
    return fanOut.push();
  };
  return { log, fanOut, append, all, relay: all[0] ?? new TestRelay() };
}

/** Delays the relay's next response until the returned function is called. */
function hold(relay: TestRelay): () => void {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const deliver = relay.deliver.bind(relay);
  vi.spyOn(relay, "deliver").mockImplementationOnce(async (push) => held.then(() => deliver(push)));
  return release;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

describe("a push", () => {
  test("is sent immediately; frames that arrive during it are sent together 50 ms after it started", async () => {
    const { log, fanOut, relay } = setUp();
    log.head = 1;
    const first = fanOut.push();
    while (relay.pushes.length === 0) await Promise.resolve();
    log.head = 4;
    const rest = [fanOut.push(), fanOut.push(), fanOut.push()];
    await vi.advanceTimersByTimeAsync(49);
    expect(relay.pushes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await Promise.all([first, ...rest])).toEqual([true, true, true, true]);
    expect(relay.pushes.map((push) => push.frames.map((each) => each.seq))).toEqual([[1], [2, 3, 4]]);
  });

  test("waits for more frames after a burst", async () => {
    const { append, relay } = setUp();
    await append(9);
    const next = append();
    await vi.advanceTimersByTimeAsync(49);
    expect(relay.pushes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await next).toBe(true);
  });

  test("is sent immediately for a publisher that awaits each response, up to ten times in 50 ms", async () => {
    const { append, relay } = setUp();
    for (let sent = 1; sent <= 10; sent++) expect(await append()).toBe(true);
    const eleventh = append();
    await vi.advanceTimersByTimeAsync(49);
    expect(relay.pushes).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(1);
    expect(await eleventh).toBe(true);
    expect(relay.pushes).toHaveLength(11);
  });

  test("includes frames that arrive before it starts, and resolves for their publishers too", async () => {
    const { append, relay } = setUp();
    const release = hold(relay);
    const first = append();
    await vi.advanceTimersByTimeAsync(1);
    const second = append(2);
    await vi.advanceTimersByTimeAsync(50);
    const third = append();
    release();
    expect(await Promise.all([first, second, third])).toEqual([true, true, true]);
    expect(relay.pushes.map((push) => push.frames.map((each) => each.seq))).toEqual([[1], [2, 3, 4]]);
    await vi.advanceTimersByTimeAsync(100);
    expect(relay.pushes).toHaveLength(2);
  });

  test("that included other publishers' frames doesn't make the next single frame count as a burst", async () => {
    const { append, relay } = setUp();
    const release = hold(relay);
    const first = append();
    await vi.advanceTimersByTimeAsync(1);
    const second = append(2);
    await vi.advanceTimersByTimeAsync(50);
    const third = append();
    release();
    await Promise.all([first, second, third]);
    await vi.advanceTimersByTimeAsync(200);
    expect(await append()).toBe(true);
    expect(await append()).toBe(true);
    expect(relay.pushes.map((push) => push.frames.map((each) => each.seq))).toEqual([[1], [2, 3, 4], [5], [6]]);
  });

  test("that fails reports the failure to every publisher whose frames it included", async () => {
    const { append, relay } = setUp();
    await append();
    const release = hold(relay);
    const second = append();
    await vi.advanceTimersByTimeAsync(1);
    const together = [append(), append()];
    relay.failures = 1;
    release();
    await second;
    relay.failures = 1;
    await vi.advanceTimersByTimeAsync(50);
    expect(await Promise.all(together)).toEqual([false, false]);
    const next = append();
    await vi.advanceTimersByTimeAsync(50);
    expect(await next).toBe(true);
    expect(relay.received).toEqual([1, 2, 3, 4, 5]);
  });

  test("to a relay that never responds delays publishers once, and other relays not at all", async () => {
    const { append, all } = setUp(2);
    const [silent, good] = all;
    if (!silent || !good) throw new Error("two relays");
    const deliver = vi.spyOn(silent, "deliver").mockImplementation(() => new Promise(() => undefined));
    const waiting: Promise<boolean>[] = [];
    for (let sent = 1; sent <= 20; sent++) {
      waiting.push(append());
      await vi.advanceTimersByTimeAsync(100);
      expect(good.received).toEqual(range(1, sent));
    }
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => false));
    // From here on no publisher waits for it, and it gets one call at a time.
    for (let more = 1; more <= 30; more++) {
      const pushed = append();
      await vi.advanceTimersByTimeAsync(100);
      expect(await pushed).toBe(false);
    }
    expect(good.received).toEqual(range(1, 50));
    expect(deliver.mock.calls.length).toBeLessThanOrEqual(4);
    deliver.mockRestore();
    await vi.advanceTimersByTimeAsync(4_000);
    const back = append();
    await vi.advanceTimersByTimeAsync(100);
    await back;
    const last = append();
    await vi.advanceTimersByTimeAsync(100);
    expect(await last).toBe(true);
    expect(silent.received).toEqual(range(1, 52));
    expect(good.received).toEqual(range(1, 52));
  });

  test("to a relay that lags starts at the relay's position", async () => {
    const { append, relay, log } = setUp(1, 5);
    log.head = 5;
    relay.head = 2;
    expect(await append()).toBe(true);
    expect(relay.received).toEqual([3, 4, 5, 6]);
  });

  test("that fails is reported, doesn't delay other relays, and the next one includes its frames", async () => {
    const { append, all } = setUp(2);
    const [bad, good] = all;
    if (!bad || !good) throw new Error("two relays");
    bad.failures = 1;
    expect(await append()).toBe(false);
    expect(good.received).toEqual([1]);
    const again = append();
    await vi.advanceTimersByTimeAsync(50);
    expect(await again).toBe(true);
    expect(bad.received).toEqual([1, 2]);
    expect(good.received).toEqual([1, 2]);
  });

  test("without a response fails after two seconds", async () => {
    const { fanOut, log } = setUp(0);
    const silent = new FanOut(log, () => new Promise(() => undefined), 1, 0);
    log.head = 1;
    const pushed = silent.push();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await pushed).toBe(false);
    expect(await fanOut.push()).toBe(true);
  });

  test("tells the relay if the log no longer reaches back to its position", async () => {
    const { append, log, relay } = setUp();
    log.pruned = 3;
    log.head = 4;
    await append();
    expect(relay.pushes.map((push) => push.lost)).toEqual([true]);
  });
});

describe("a relay without viewers", () => {
  test("isn't called again until it requests a snapshot", async () => {
    const { append, relay, fanOut } = setUp();
    relay.listening = false;
    await append();
    const idle = append();
    await vi.advanceTimersByTimeAsync(50);
    await idle;
    expect(relay.pushes).toHaveLength(1);
    relay.listening = true;
    relay.head = 2;
    fanOut.open(0);
    const next = append();
    await vi.advanceTimersByTimeAsync(50);
    await next;
    expect(relay.received).toEqual([3]);
  });

  test("that requests a snapshot while reporting that it is idle counts as listening", async () => {
    const { fanOut, log } = setUp(0);
    const pushes: Push[] = [];
    const racing = new FanOut(
      log,
      async (_, push) => {
        pushes.push(push);
        if (pushes.length === 1) racing.open(0);
        return { head: null, sockets: 0, idle: pushes.length === 1 };
      },
      1,
      0,
    );
    log.head = 1;
    await racing.push();
    log.head = 2;
    const next = racing.push();
    await vi.advanceTimersByTimeAsync(50);
    await next;
    expect(pushes.at(-1)?.frames.map((each) => each.seq)).toEqual([2]);
    expect(await fanOut.push()).toBe(true);
  });
});

test("only the latest state of each key is sent", async () => {
  const { fanOut, relay, append } = setUp();
  await append();
  for (const total of [1, 2, 3]) fanOut.state({ key: "a", type: "poll.updated", at: total, data: String(total) });
  fanOut.state({ key: "b", type: "poll.updated", at: 1, data: "9" });
  const pushed = fanOut.push();
  await vi.advanceTimersByTimeAsync(50);
  await pushed;
  expect(relay.pushes.at(-1)?.states.map((change) => change.data)).toEqual(["3", "9"]);
});

test("a state that a relay didn't accept is sent with the next push, unless a later one replaced it", async () => {
  const { fanOut, relay, append } = setUp();
  await append();
  relay.failures = 1;
  for (const key of ["a", "b"]) fanOut.state({ key, type: "poll.updated", at: 1, data: "1" });
  const failed = fanOut.push();
  await vi.advanceTimersByTimeAsync(50);
  expect(await failed).toBe(false);
  fanOut.state({ key: "a", type: "poll.updated", at: 1, data: "2" });
  const pushed = fanOut.push();
  await vi.advanceTimersByTimeAsync(50);
  expect(await pushed).toBe(true);
  expect(relay.pushes.at(-1)?.states).toEqual([
    { key: "a", type: "poll.updated", at: 1, data: "2" },
    { key: "b", type: "poll.updated", at: 1, data: "1" },
  ]);
});

test("a state that one of two relays didn't accept is sent to it alone, also without a new frame", async () => {
  const { fanOut, append, all } = setUp(2);
  await append();
  const [accepts, fails] = all;
  if (fails) fails.failures = 1;
  fanOut.state({ key: "a", type: "poll.updated", at: 1, data: "1" });
  expect(await fanOut.push()).toBe(false);
  const again = fanOut.push();
  await vi.advanceTimersByTimeAsync(50);
  expect(await again).toBe(true);
  const received = (relay: TestRelay | undefined) => relay?.pushes.map(({ states }) => states.length);
  expect([received(accepts), received(fails)]).toEqual([
    [0, 1],
    [0, 1, 1],
  ]);
});

test("a push with nothing new succeeds without a call", async () => {
  const { fanOut, append, relay } = setUp();
  await append();
  expect(await fanOut.push()).toBe(true);
  expect(relay.pushes).toHaveLength(1);
});

test("a relay that is closed is neither called nor counted until it requests a snapshot", async () => {
  const { fanOut, append, relay, log } = setUp();
  await append();
  expect(fanOut.sockets).toBe(1);
  fanOut.close(0);
  expect([fanOut.sockets, await append(), relay.pushes.length]).toEqual([0, true, 1]);
  relay.head = log.head;
  fanOut.open(0);
  expect(await append()).toBe(true);
  expect(relay.received).toEqual([1, 3]);
});

test("relays receive the log in order, without gaps and once, whatever fails", async () => {
  const step = fc.record({ count: fc.nat(4), fail: fc.nat(2), wait: fc.constantFrom(0, 10, 60) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const { append, relay, log } = setUp();
      const pushed: Promise<boolean>[] = [];
      for (const { count, fail, wait } of steps) {
        relay.failures = fail === 2 ? 1 : 0;
        pushed.push(append(count));
        await vi.advanceTimersByTimeAsync(wait);
      }
      relay.failures = 0;
      await vi.advanceTimersByTimeAsync(100);
      const last = append();
      await vi.advanceTimersByTimeAsync(100);
      expect(await last).toBe(true);
      await Promise.all(pushed);
      expect(relay.received).toEqual(range(1, log.head));
    }),
  );
});
