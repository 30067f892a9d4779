import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { and, eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, pollResponses, polls } from "#db/schema/index.ts";
import { counterOf, POLL_COUNTERS, type Vote, type VoteOutcome } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { PollCounter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { Poll, PollResults } from "#worker/services/polls/schemas.ts";
import { counterAt, countersOf, pollDefinition, syncCounters, writeVotes } from "#worker/services/polls/counting.ts";
import { answeredPolls } from "#worker/services/polls/polls.ts";
import { castVote } from "#worker/services/polls/votes.ts";
import { newSite, openSocket, type TestSite } from "../harness.ts";
import { evict, type TestViewer } from "./relay-viewer.ts";

const db = createDb(env.DB);
const TELL_MS = 500;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function newPoll(fields: Record<string, unknown> = {}, at = site): Promise<Poll> {
  const body = {
    siteId: at.id,
    type: "prediction",
    question: "Who wins?",
    name: "Derby",
    open: true,
    answers: ["City", "A draw", "Dock"].map((answer) => ({ answer })),
    ...fields,
  };
  return (await at.call("createPoll", { body })).as(Poll);
}
type Poll = ReturnType<typeof Poll.parse>;

/** Accounts of the site by the thousand, which nobody signs in to. */
async function crowd(size: number): Promise<string[]> {
  const now = Date.now();
  const ids = Array.from({ length: size }, () => newId(now));
  const [fan] = await db.select().from(accounts).where(eq(accounts.id, site.accounts.viewer.id));
  if (!fan) throw new Error("The site has no viewer to copy");
  const columns = Object.keys((await env.DB.prepare("SELECT * FROM accounts LIMIT 1").first<Record<string, unknown>>()) ?? {});
  const unique = new Map([
    ["id", "value"],
    ["email", "value || '@crowd.example'"],
    ["email_hash", "value"],
    ["name", "value"],
    ["normalized_name", "value"],
  ]);
  const selected = columns.map((column) => unique.get(column) ?? `accounts.${column}`).join(", ");
  await env.DB.prepare(`INSERT INTO accounts (${columns.join(", ")}) SELECT ${selected} FROM accounts, json_each(?) WHERE accounts.id = ?`)
    .bind(JSON.stringify(ids), fan.id)
    .run();
  return ids;
}

const idOf = (poll: Poll, index: number): string => poll.answers[index]?._id ?? "";
const vote = (poll: Poll, accountId: string, answer = 0, requestId = randomHex(6), at = site): Promise<VoteOutcome> =>
  counterAt(env, at.id, poll._id, counterOf(accountId)).vote({ accountId, answerId: idOf(poll, answer), requestId });
const patch = (poll: Poll, body: Record<string, unknown>) => site.call("patchPoll", { params: { id: poll._id }, body });
const results = async (poll: Poll) => (await site.call("getPollResults", { as: "client", params: { id: poll._id } })).as(PollResults);
const counts = async (poll: Poll) => (await results(poll)).answers.map(({ responses }) => responses);

async function written(poll: Poll): Promise<Record<string, number>> {
  const rows = await db
    .select({ answerId: pollResponses.answerId, responses: sql<number>`count(*)` })
    .from(pollResponses)
    .where(and(eq(pollResponses.siteId, site.id), eq(pollResponses.pollId, poll._id)))
    .groupBy(pollResponses.answerId);
  return Object.fromEntries(rows.map(({ answerId, responses }) => [answerId, responses]));
}

/** Answers until it gets one, as a client with a bad connection does. */
async function insist(poll: Poll, { accountId, answerId, requestId }: Vote): Promise<VoteOutcome> {
  for (;;) {
    try {
      return await counterAt(env, site.id, poll._id, counterOf(accountId)).vote({ accountId, answerId, requestId });
    } catch {
      // The object has died; a later call starts it again.
      await scheduler.wait(5);
    }
  }
}

describe("votes of a crowd", () => {
  test("with retries, evictions and a crash in the middle end in an exact tally, and every one of them in the database", async () => {
    const poll = await newPoll();
    const fans = await crowd(2_000);
    const expected = [0, 0, 0];
    const votes: Vote[] = fans.map((accountId, index) => {
      const answer = (index * 7) % 3;
      expected[answer] = (expected[answer] ?? 0) + 1;
      return { accountId, answerId: idOf(poll, answer), requestId: randomHex(6) };
    });
    for (let from = 0; from < votes.length; from += 250) {
      const some = votes.slice(from, from + 250);
      const cast = some.flatMap((one) => [insist(poll, one), ...(counterOf(one.accountId) % 2 === 0 ? [insist(poll, one)] : [])]);
      if (from === 1_000) await abortAllDurableObjects();
      for (const outcome of await Promise.all(cast)) expect(outcome.ok).toBe(true);
      if (from % 500 === 0) await evictDurableObject(counterAt(env, site.id, poll._id, (from / 250) % POLL_COUNTERS));
    }
    // Second thoughts come too late.
    const [first] = fans;
    expect(await vote(poll, first ?? "", 2)).toMatchObject({ ok: false, code: "already_answered" });
    await patch(poll, { open: false });
    expect(await counts(poll)).toEqual(expected);
    expect(await written(poll)).toEqual(Object.fromEntries(expected.map((responses, index) => [idOf(poll, index), responses])));
  });

  test("share all counters, each account always at the same one", async () => {
    const ids = Array.from({ length: 4_000 }, () => newId(Date.now()));
    const shares = Array.from({ length: POLL_COUNTERS }, (_, counter) => ids.filter((id) => counterOf(id) === counter).length);
    for (const share of shares) expect(share).toBeGreaterThan(4_000 / POLL_COUNTERS / 2);
    expect(ids.map(counterOf)).toEqual(ids.map(counterOf));
  });

  test("that are cast while the poll closes are counted if and only if they are told so", async () => {
    const poll = await newPoll();
    const fans = await crowd(200);
    const casting = fans.map((fan) => vote(poll, fan));
    const closing = patch(poll, { open: false });
    const outcomes = await Promise.all(casting);
    await closing;
    const late = await Promise.all((await crowd(20)).map((fan) => vote(poll, fan)));
    for (const outcome of late) expect(outcome).toMatchObject({ ok: false, code: "poll_closed" });
    const told = outcomes.filter(({ ok }) => ok).length;
    expect((await results(poll)).total).toBe(told);
    expect(Object.values(await written(poll)).reduce((sum, count) => sum + count, 0)).toBe(told);
  });
});

describe("a counter", () => {
  test("takes its votes to the database by alarm, once, even if a portion is written twice", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const outcome = await vote(poll, fan);
    const counter = counterAt(env, site.id, poll._id, counterOf(fan));
    await vi.waitUntil(async () => (await runDurableObjectAlarm(counter)) || Object.keys(await written(poll)).length > 0);
    await vi.waitUntil(async () => Object.keys(await written(poll)).length > 0);
    if (outcome.ok) await writeVotes(env, { siteId: site.id, pollId: poll._id }, [outcome.vote]);
    expect(await written(poll)).toEqual({ [idOf(poll, 0)]: 1 });
  });

  test("brings by alarm what was counted before a crash", async () => {
    const poll = await newPoll();
    const fans = await crowd(20);
    await Promise.all(fans.map((fan) => vote(poll, fan, 1)));
    await abortAllDurableObjects();
    await vi.waitUntil(async () => (await written(poll))[idOf(poll, 1)] === 20, { interval: 50 });
    expect((await results(poll)).total).toBe(20);
  });

  test("counts on while the database fails, and writes later", async () => {
    const poll = await newPoll();
    const fans = await crowd(3);
    expect((await vote(poll, fans[0] ?? "")).ok).toBe(true);
    const batch = vi.spyOn(env.DB, "batch").mockRejectedValue(new Error("down"));
    for (const fan of fans.slice(1)) expect((await vote(poll, fan)).ok).toBe(true);
    batch.mockRestore();
    await vi.waitUntil(async () => (await written(poll))[idOf(poll, 0)] === 3, { interval: 50 });
  });

  test("keeps to the later definition, in whatever order they come", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const counter = counterAt(env, site.id, poll._id, counterOf(fan));
    const answers = poll.answers.map(({ _id, answer, imageUrl }) => ({ id: _id, answer, imageUrl }));
    const definition = { version: 5, open: false, hideResults: false, responsesPerViewer: 1, answers, correctAnswerId: null };
    await counter.define(definition);
    await counter.define({ ...definition, version: 4, open: true });
    expect(await vote(poll, fan)).toMatchObject({ code: "poll_closed" });
  });

  test("keeps votes away from an answer that is being taken out, also when an older definition arrives meanwhile", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const counter = counterAt(env, site.id, poll._id, counterOf(fan));
    const current = await pollDefinition(env, site.id, poll._id);
    if (!current) throw new Error("The poll is there");
    await counter.hold({ by: "one", version: current.version + 1, answerIds: [idOf(poll, 0)] });
    await counter.hold({ by: "other", version: current.version + 1, answerIds: [idOf(poll, 1)] });
    await counter.define(current);
    await counter.define({ ...current, version: current.version + 1 });
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: false, code: "conflict" });
    await counter.release("other");
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: false, code: "conflict" });
    await counter.define({ ...current, version: current.version + 2 });
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: true });
  });

  test("takes votes again at once for an answer that stayed because another change came first", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const hold = vi.spyOn(PollCounter.prototype, "hold");
    const batch = env.DB.batch.bind(env.DB);
    vi.spyOn(env.DB, "batch").mockImplementation(async <T>(statements: D1PreparedStatement[]) => {
      if (hold.mock.calls.length > 0)
        await db
          .update(polls)
          .set({ version: sql`${polls.version} + 1` })
          .where(eq(polls.id, poll._id));
      return batch<T>(statements);
    });
    const body = poll.answers.slice(1).map(({ _id, answer }) => ({ _id, answer }));
    expect((await site.call("replacePollAnswers", { params: { id: poll._id }, body })).status).toBe(409);
    expect(hold).toHaveBeenCalled();
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: true });
  });

  test("follows the row when a request died between its change and the counters", async () => {
    const poll = await newPoll();
    const fans = await crowd(2);
    expect((await vote(poll, fans[0] ?? "")).ok).toBe(true);
    await env.DB.prepare("UPDATE polls SET open = 0, version = version + 1 WHERE id = ?").bind(poll._id).run();
    await syncCounters(env, site.id, poll._id);
    expect(await vote(poll, fans[1] ?? "")).toMatchObject({ code: "poll_closed" });
    await env.DB.prepare("DELETE FROM polls WHERE id = ?").bind(poll._id).run();
    await syncCounters(env, site.id, poll._id);
    expect(await vote(poll, fans[1] ?? "")).toMatchObject({ code: "not_found" });
    expect(await Promise.all(countersOf(env, site.id, poll._id).map((counter) => counter.tally()))).toEqual(
      Array.from({ length: POLL_COUNTERS }, () => ({})),
    );
    expect(await written(poll)).toEqual({});
  });

  test("forgets whose a vote was when its account is gone before it is written", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    await vote(poll, fan);
    await db.delete(accounts).where(eq(accounts.id, fan));
    await patch(poll, { open: false });
    expect(await written(poll)).toEqual({});
    expect(await counterAt(env, site.id, poll._id, counterOf(fan)).votesOf(fan)).toEqual([]);
    expect((await results(poll)).total).toBe(1);
    await patch(poll, { open: true });
    expect(await vote(poll, fan)).toMatchObject({ ok: false, code: "already_answered" });
  });
});

describe("a vote over a socket", () => {
  test("is answered alike however often it comes", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const cast = { pollId: poll._id, accountId: fan, answerId: idOf(poll, 0), requestId: "frame-1" };
    const answers = await Promise.all([1, 2, 3].map(() => castVote(env, site.id, cast)));
    expect(answers).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect(await castVote(env, site.id, { ...cast, requestId: "frame-2" })).toMatchObject({ ok: false, code: "already_answered" });
    expect(await castVote(env, site.id, { ...cast, answerId: idOf(poll, 1) })).toMatchObject({ ok: false, code: "already_answered" });
    expect(await castVote(env, site.id, { ...cast, pollId: newId(1) })).toMatchObject({ ok: false, code: "not_found" });
  });
});

describe("what an account has answered", () => {
  test("is complete, with what the database doesn't have yet, and right or wrong once settled", async () => {
    const [fan = ""] = await crowd(1);
    const polls = [await newPoll(), await newPoll({ type: "trivia" }), await newPoll({ responsesPerViewer: 2 })];
    const [first, second, third] = polls;
    if (!first || !second || !third) throw new Error("Polls are missing");
    for (const poll of [first, second, third]) await vote(poll, fan);
    await vote(third, fan, 2);
    await site.call("settlePoll", { params: { id: first._id }, body: { correctAnswerId: idOf(first, 0) } });
    await site.call("settlePoll", { params: { id: second._id }, body: { correctAnswerId: idOf(second, 1) } });
    const answered = await answeredPolls({ env, db, siteId: site.id }, fan);
    const short = answered.map(({ pollId, pollType, answerId, correct }) => ({ pollId, pollType, answerId, correct }));
    expect(short).toHaveLength(4);
    expect(short).toEqual(
      expect.arrayContaining([
        { pollId: first._id, pollType: "prediction", answerId: idOf(first, 0), correct: true },
        { pollId: second._id, pollType: "trivia", answerId: idOf(second, 0), correct: false },
        { pollId: third._id, pollType: "prediction", answerId: idOf(third, 0), correct: null },
        { pollId: third._id, pollType: "prediction", answerId: idOf(third, 2), correct: null },
      ]),
    );
  });
});

describe("viewers", () => {
  const told = (viewer: TestViewer, poll: Poll) =>
    viewer.frames.flatMap((frame) => (frame.type === "poll.updated" && frame.data.pollId === poll._id ? [frame.data] : []));
  const hears = (viewer: TestViewer, poll: Poll, total: number) =>
    viewer.when((frame) => frame.type === "poll.updated" && frame.data.pollId === poll._id && frame.data.total === total);

  async function enter(channelId: string, at = site): Promise<TestViewer> {
    const viewer = await openSocket(at, channelId);
    await viewer.first("welcome");
    return viewer;
  }

  /** A panel with the poll, beside the picture of the first channel. */
  async function show(poll: Poll, at = site): Promise<void> {
    const renderer = { panel_type: "quick_pick", panel_name: "Quick pick", questions: [{ array_id: "a1B2c3D4e", poll_id: poll._id }] };
    const { _id } = (await at.call("createPanel", { body: { siteId: at.id, renderer } })).as(Panel);
    await env.DB.prepare("UPDATE pages SET data = json_set(data, '$.sidebar', json(?)) WHERE id = ?")
      .bind(JSON.stringify({ panels: [_id] }), at.channels[0])
      .run();
  }

  test("of the channels that show the poll hear of its tally, and no others", async () => {
    const poll = await newPoll();
    await show(poll);
    const [viewer, other] = [await enter(site.channels[0]), await enter(site.channels[1])];
    await vote(poll, (await crowd(1))[0] ?? "", 1);
    await hears(viewer, poll, 1);
    expect(told(viewer, poll).at(-1)).toEqual(await results(poll));
    expect(told(other, poll)).toEqual([]);
  });

  test("of the whole site hear of a poll that no channel shows, also that it was settled", async () => {
    const poll = await newPoll();
    const viewers = [await enter(site.channels[0]), await enter(site.channels[1])];
    await vi.waitUntil(async () => (await env.SITE_PRESENCE.getByName(site.id).concurrents()).concurrents >= 2);
    await vote(poll, (await crowd(1))[0] ?? "");
    await Promise.all(viewers.map((viewer) => hears(viewer, poll, 1)));
    await site.call("settlePoll", { params: { id: poll._id }, body: { correctAnswerId: idOf(poll, 0) } });
    for (const viewer of viewers)
      await viewer.when((frame) => frame.type === "poll.updated" && frame.data.correctAnswerId === idOf(poll, 0));
  });

  test("hear at most twice a second, at last the exact tally, and then nothing", async () => {
    const poll = await newPoll();
    await show(poll);
    const viewer = await enter(site.channels[0]);
    const fans = await crowd(300);
    const started = Date.now();
    for (let from = 0; from < fans.length; from += 10) {
      await Promise.all(fans.slice(from, from + 10).map((fan) => vote(poll, fan)));
      await scheduler.wait(30);
    }
    await hears(viewer, poll, 300);
    const frames = told(viewer, poll);
    expect(frames.length).toBeLessThanOrEqual(2 + (Date.now() - started) / TELL_MS);
    expect(new Set(frames.map(({ total }) => total)).size).toBe(frames.length);
    await counterAt(env, site.id, poll._id, 0).changed();
    await scheduler.wait(2 * TELL_MS);
    expect(told(viewer, poll)).toHaveLength(frames.length);
  });

  test("hear the last tally also when their relay did not take it at first", async () => {
    const poll = await newPoll();
    await show(poll);
    const viewer = await enter(site.channels[0]);
    const deliver = vi.spyOn(Relay.prototype, "deliver").mockImplementationOnce(() => {
      throw new Error("relay down");
    });
    await vote(poll, (await crowd(1))[0] ?? "");
    await hears(viewer, poll, 1);
    expect(deliver.mock.results.at(0)?.type).toBe("throw");
  });

  test("hear what is new at once, however long the repeat of what a relay did not take is put off", async () => {
    const poll = await newPoll();
    await show(poll);
    const viewer = await enter(site.channels[0]);
    const state = vi.spyOn(Channel.prototype, "state").mockRejectedValue(new Error("a relay is silent"));
    const counter = counterAt(env, site.id, poll._id, 0);
    await vote(poll, (await crowd(1))[0] ?? "");
    await vi.waitUntil(() => state.mock.calls.length >= 4);
    await counter.changed();
    const due = await runInDurableObject(counter, (_, { storage }) => storage.getAlarm());
    expect((due ?? 0) - Date.now()).toBeLessThanOrEqual(TELL_MS);
    state.mockRestore();
    await hears(viewer, poll, 1);
  });

  test("who have just opened a channel receive the tally of the vote that follows at once", async () => {
    const own = await newSite();
    const poll = await newPoll({}, own);
    const viewer = await enter(own.channels[0], own);
    await vote(poll, own.accounts.viewer.id, 0, "first", own);
    await hears(viewer, poll, 1);
  });

  test.for(["the whole site", "one channel"])(
    "who connect after the last vote receive the tally of a poll of %s, once",
    async (audience) => {
      const own = await newSite();
      const poll = await newPoll({}, own);
      if (audience === "one channel") await show(poll, own);
      const first = await enter(own.channels[0], own);
      await vote(poll, own.accounts.viewer.id, 1, "first", own);
      await hears(first, poll, 1);
      for (const stub of ["relay", "channel", "presence"]) {
        if (stub === "relay") await evict(env.RELAY.getByName(`${own.id}:${own.channels[0]}:0`));
        if (stub === "channel") await evict(env.CHANNEL.getByName(`${own.id}:${own.channels[0]}`));
        if (stub === "presence") await evict(env.SITE_PRESENCE.getByName(own.id));
        const late = await enter(own.channels[0], own);
        await hears(late, poll, 1);
        await late.first("concurrents");
        expect(told(late, poll)).toHaveLength(1);
      }
    },
  );

  test("who connect after a poll was deleted don't receive its tally", async () => {
    const own = await newSite();
    const poll = await newPoll({}, own);
    const first = await enter(own.channels[0], own);
    await vote(poll, own.accounts.viewer.id, 1, "first", own);
    await hears(first, poll, 1);
    await env.DB.prepare("DELETE FROM polls WHERE id = ?").bind(poll._id).run();
    await syncCounters(env, own.id, poll._id);
    const late = await enter(own.channels[0], own);
    await late.first("concurrents");
    expect(told(late, poll)).toEqual([]);
  });

  test("don't hear who is ahead while the poll hides it", async () => {
    const poll = await newPoll({ hideResults: true });
    await show(poll);
    const viewer = await enter(site.channels[0]);
    await vote(poll, (await crowd(1))[0] ?? "");
    await hears(viewer, poll, 1);
    expect(JSON.stringify(told(viewer, poll))).not.toContain("responses");
    await patch(poll, { open: false });
    await viewer.when((frame) => frame.type === "poll.updated" && frame.data.pollId === poll._id && frame.data.hidden === false);
    expect(told(viewer, poll).at(-1)).toMatchObject({ answers: [{ responses: 1 }, { responses: 0 }, { responses: 0 }] });
  });
});
