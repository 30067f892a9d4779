import { expect, test } from "vitest";
import { run } from "#cli/run.ts";
import { fakeIo, type FakeIo } from "./fake-io.ts";

const SITE = { TIFO_ORIGIN: "https://tifo.example.com", TIFO_SITE_ID: "5eed00000000000000000001", TIFO_DEVELOPER_KEY: "tifo_dev_test" };

interface Log {
  head: number;
  oldest: number;
  /** Responses instead of the log's, in order; "lost" is a connection that breaks. */
  failures: (number | "lost")[];
  /** What happens before each request is answered. */
  before?: () => void;
}

/** A site's log that responds as the API does, with at most two events a page. */
function ioWith(log: Log): FakeIo {
  const io = fakeIo(({ url }) => {
    log.before?.();
    const failure = log.failures.shift();
    if (failure === "lost") throw new TypeError("fetch failed");
    if (failure !== undefined) return Response.json({ code: `c${failure}`, message: `Status ${failure}` }, { status: failure });
    const after = Number(new URL(url).searchParams.get("after"));
    const first = Math.max(after + 1, log.oldest);
    const limit = Math.min(2, Number(new URL(url).searchParams.get("limit")));
    const results = Array.from({ length: Math.max(0, Math.min(limit, log.head - first + 1)) }, (_, index) => event(first + index));
    return Response.json({ results, after: results.at(-1)?.sequence ?? after, head: log.head, oldest: log.oldest });
  });
  Object.assign(io.env, SITE);
  return io;
}

function event(sequence: number) {
  return {
    id: `e${sequence}`,
    type: "poll.updated",
    created: 0,
    sequence,
    previousSequence: null,
    resource: "poll/1",
    data: {},
    actor: "x\u009b2J",
  };
}

const sequencesIn = (io: FakeIo) => io.shown.map((line) => Number(line.split("  ")[1]));

test("tail prints each event once and in order, over lost connections and errors of the server", async () => {
  const io = ioWith({ head: 7, oldest: 1, failures: [...Array<"lost">(9).fill("lost"), 503, 429] });
  expect(await run(["tail", "--after", "0", "--count", "7"], io)).toBe(0);
  expect(sequencesIn(io)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(io.notes.at(-1)).toBe("Connected again.");
});

test("tail starts with the next event unless it is given a sequence", async () => {
  const log: Log = { head: 4, oldest: 1, failures: [] };
  log.before = () => void (io.requests.length === 3 && (log.head = 6));
  const io = ioWith(log);
  expect(await run(["tail", "--count", "2"], io)).toBe(0);
  expect(sequencesIn(io)).toEqual([5, 6]);
});

test("tail says which events are no longer stored", async () => {
  const io = ioWith({ head: 9, oldest: 8, failures: [] });
  expect(await run(["tail", "--after", "3", "--count", "2"], io)).toBe(0);
  expect(io.notes).toEqual(["Events 4 to 7 are no longer stored."]);
});

test("tail ends with 3 when its key is revoked", async () => {
  const log: Log = { head: 2, oldest: 1, failures: [] };
  log.before = () => void (io.requests.length > 2 && log.failures.push(401));
  const io = ioWith(log);
  expect(await run(["tail", "--after", "0"], io)).toBe(3);
  expect(sequencesIn(io)).toEqual([1, 2]);
});

test("tail ends with 130 when it is interrupted", async () => {
  const log: Log = { head: 0, oldest: 1, failures: [] };
  log.before = () => io.requests.length > 3 && io.abort();
  const io = ioWith(log);
  expect(await run(["tail"], io)).toBe(130);
});

test("what events contain can't control the terminal, as text or as JSON", async () => {
  const io = ioWith({ head: 2, oldest: 1, failures: [] });
  await run(["tail", "--after", "0", "--count", "2"], io);
  await run(["tail", "--after", "0", "--count", "2", "--json"], io);
  expect(io.shown.join("")).not.toContain("\u009b");
  expect(JSON.parse(io.shown.at(-1) ?? "")).toEqual(event(2));
});

test.each([
  [["tail", "--chanel", "x"], "Unknown option '--chanel'."],
  [["tail", "--count", "0"], '--count must be a number of at least 1, not "0".'],
  [["tail", "extra"], '"extra" isn\'t expected.'],
  [["tail", "--channel", "x"], '"x" isn\'t an id.'],
  [["trigger", "broadcast"], "<overlay> is missing."],
  [["trigger", "broadcast", "5eed0000000000000000a001"], "Pass --channel, or --site-wide"],
  [["fly"], 'There is no command "fly".'],
])("%j is wrong usage, and sends nothing", async (argv, message) => {
  const io = ioWith({ head: 0, oldest: 1, failures: [] });
  expect(await run(argv, io)).toBe(2);
  expect(io.notes[0]).toContain(message);
  expect(io.requests).toEqual([]);
});

test("with --json, an error is one line of JSON with the server's code", async () => {
  const io = ioWith({ head: 0, oldest: 1, failures: [403] });
  expect(await run(["tail", "--json"], io)).toBe(3);
  expect(JSON.parse(io.notes[0] ?? "")).toMatchObject({ error: { message: "Status 403", status: 403, code: "c403" } });
});
