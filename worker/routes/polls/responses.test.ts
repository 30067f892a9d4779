import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { waitForViewerCount, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { PollCounter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { SHARED_WAIT_MS } from "#worker/lib/shared-cache.ts";
import { Engagement, Reach } from "#worker/services/insights/engagement-schemas.ts";
import { signTicket } from "#worker/services/realtime/tickets.ts";
import { counterOf } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { idOf, pollCalls, storedResponses } from "#test/polls.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, answer, patch, results } = pollCalls(() => site);

/** The votes that a channel (null: none in particular) has counted. */
async function engagementOf(channelId: string | null): Promise<number> {
  const { results: hours } = (await site.call("getEngagement", { query: { limit: 1000 } })).as(Engagement);
  return hours.filter((hour) => hour.channelId === channelId).reduce((sum, { votes }) => sum + votes, 0);
}

describe("a response", () => {
  test("names its account, and counts once", async () => {
    const poll = await newPoll();
    const response = await answer(poll._id, idOf(poll, 1));
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({
      pollId: poll._id,
      answerId: idOf(poll, 1),
      userId: site.accounts.viewer.id,
      siteId: site.id,
    });
    expect((await answer(poll._id, idOf(poll, 0))).problem).toMatchObject({ status: 409, code: "already_answered" });
    expect((await results(poll._id)).total).toBe(1);
  });

  test("of many viewers who ask at the same moment is summed up once, and anew when the poll is closed", async () => {
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0));
    vi.spyOn(Date, "now").mockReturnValue(Date.now());
    onTestFinished(() => void vi.restoreAllMocks());
    // However slow this machine is, nobody takes the one that asks for dead.
    const wait = globalThis.setTimeout;
    const patient = (work: () => void, ms?: number) => wait(work, ms === SHARED_WAIT_MS ? 60_000 : ms);
    vi.spyOn(globalThis, "setTimeout").mockImplementation(patient);
    const sum = vi.spyOn(PollCounter.prototype, "sum");
    const asked = await Promise.all(Array.from({ length: 20 }, () => results(poll._id)));
    expect(asked.map(({ total }) => total)).toEqual(asked.map(() => 1));
    expect(sum).toHaveBeenCalledTimes(1);
    await answer(poll._id, idOf(poll, 1), "reader");
    await patch(poll._id, { open: false });
    expect(await results(poll._id)).toMatchObject({ open: false, total: 2 });
  });

  test("queries the database only for the caller", async () => {
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 1), "reader");
    expect((await answer(poll._id, idOf(poll, 1))).log.d1).toMatchObject({ roundTrips: 1 });
  });

  test("counts on the channel that it names, and an unknown one is ignored", async () => {
    const [channelId] = site.channels;
    const poll = await newPoll();
    const params = { id: poll._id };
    const before = [await engagementOf(null), await engagementOf(channelId)] as const;
    const named = { as: "viewer", params, body: { answerId: idOf(poll, 0), channelId } } as const;
    const unknown = { as: "reader", params, body: { answerId: idOf(poll, 1), channelId: newId(1) } } as const;
    for (const call of [named, unknown]) expect((await site.call("respondToPoll", call)).status).toBe(201);
    await patch(poll._id, { open: false });
    expect(await engagementOf(channelId)).toBe(before[1] + 1);
    expect(await engagementOf(null)).toBeGreaterThan(before[0]);
    expect((await results(poll._id)).total).toBe(2);
    const onChannel = (await site.call("getReach", { query: { channelId } })).as(Reach).results;
    expect(onChannel.find(({ id }) => id === poll._id)).toEqual({ kind: "poll", id: poll._id, shown: 0, used: 1 });
  });

  test("can be read by who gave it, at once and after the poll is closed, and by nobody else", async () => {
    const poll = await newPoll({ responsesPerViewer: 2 });
    const own = (as: "viewer" | "reader" = "viewer") => site.call("listOwnPollResponses", { as, params: { id: poll._id } });
    expect((await own()).body).toEqual([]);
    const first = (await answer(poll._id, idOf(poll, 1))).body;
    expect((await own()).body).toEqual([first]);
    const second = (await answer(poll._id, idOf(poll, 0))).body;
    // In the database or not: a response that is written isn't listed twice.
    await runDurableObjectAlarm(counterAt(env, site.id, poll._id, counterOf(site.accounts.viewer.id)));
    expect((await own()).body).toEqual([first, second]);
    expect((await own("reader")).body).toEqual([]);
    await patch(poll._id, { open: false });
    const closed = await own();
    expect(closed.body).toEqual([first, second]);
    expect(closed.log.d1).toMatchObject({ roundTrips: 1 });
    const elsewhere = { as: "viewer", params: { id: newId(1) } } as const;
    expect((await site.call("listOwnPollResponses", elsewhere)).problem).toMatchObject({ status: 404 });
    const other = await newSite();
    expect((await other.call("listOwnPollResponses", { as: "viewer", params: { id: poll._id } })).problem).toMatchObject({ status: 404 });
  });

  test("can be read by who gave it while the poll is being closed", async () => {
    const poll = await newPoll();
    // The counters learn of it later, and write nothing before.
    vi.spyOn(PollCounter.prototype, "alarm").mockResolvedValue();
    vi.spyOn(PollCounter.prototype, "define").mockResolvedValue();
    onTestFinished(() => void vi.restoreAllMocks());
    const given = (await answer(poll._id, idOf(poll, 1))).body;
    await patch(poll._id, { open: false });
    expect(await storedResponses(poll._id)).toEqual([]);
    expect((await site.call("listOwnPollResponses", { as: "viewer", params: { id: poll._id } })).body).toEqual([given]);
  });

  test("can be given as often as the poll allows", async () => {
    const poll = await newPoll({ responsesPerViewer: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await answer(poll._id, idOf(poll, i))).status);
    expect(statuses).toEqual([201, 201, 409]);
  });

  test("is counted once if several arrive concurrently", async () => {
    const poll = await newPoll();
    const responses = await Promise.all([0, 1, 2, 0].map((index) => answer(poll._id, idOf(poll, index))));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    await patch(poll._id, { open: false });
    expect((await results(poll._id)).total).toBe(1);
  });

  test("with an Idempotency-Key is counted once and replayed", async () => {
    const poll = await newPoll();
    const headers = { "Idempotency-Key": `vote-${poll._id}` };
    const [first, second] = [
      await answer(poll._id, idOf(poll, 0), "viewer", headers),
      await answer(poll._id, idOf(poll, 0), "viewer", headers),
    ];
    expect(second).toMatchObject({ status: 201, body: first.body });
  });

  test("is rejected while the poll is closed, and accepted once it is open", async () => {
    const poll = await newPoll({ open: false });
    expect((await answer(poll._id, idOf(poll, 0))).problem).toMatchObject({ status: 409, code: "poll_closed" });
    await patch(poll._id, { open: true });
    expect((await answer(poll._id, idOf(poll, 0))).status).toBe(201);
    await patch(poll._id, { open: false });
    expect((await answer(poll._id, idOf(poll, 0), "reader")).problem?.code).toBe("poll_closed");
  });

  test("is a 503 if its counter is unavailable, and counts when it is retried", async () => {
    const poll = await newPoll();
    const unavailable = vi.spyOn(PollCounter.prototype, "vote").mockRejectedValueOnce(new Error("unavailable"));
    onTestFinished(() => unavailable.mockRestore());
    expect((await answer(poll._id, idOf(poll, 0))).problem).toMatchObject({ status: 503, code: "unavailable" });
    expect((await answer(poll._id, idOf(poll, 0))).status).toBe(201);
  });

  test("to an unknown poll or one of another site is a 404", async () => {
    const foreign = await newPoll({}, await newSite());
    expect((await answer(foreign._id, idOf(foreign, 0))).status).toBe(404);
    expect((await answer(newId(1), idOf(foreign, 0))).status).toBe(404);
  });

  test("is rejected once the poll is deleted, and its rows are deleted", async () => {
    const poll = await newPoll();
    await answer(poll._id, idOf(poll, 0));
    await patch(poll._id, { open: false });
    expect(await storedResponses(poll._id)).toHaveLength(1);
    await site.call("deletePoll", { params: { id: poll._id } });
    expect((await answer(poll._id, idOf(poll, 0), "reader")).status).toBe(404);
    await vi.waitUntil(async () => (await storedResponses(poll._id)).length === 0, { interval: 20 });
  });
});

describe("deleting an account", () => {
  test("disconnects its viewers, so that they can't vote", async () => {
    const fan = await site.addAccount("leaver", []);
    const [channelId] = site.channels;
    const { ticket } = await signTicket(env, { siteId: site.id, channelId, accountId: fan.id, sessionId: null, tags: [] }, 0, Date.now());
    const [viewer, other] = [await openSocket(site, channelId, { ticket }), await openSocket(site, channelId)];
    for (const each of [viewer, other]) await each.first("welcome");
    await waitForViewerCount(site, 2);
    await site.call("deleteAccount", { params: { id: fan.id } });
    expect(await viewer.closed).toEqual({ code: CLOSE.unauthenticated, reason: "unauthenticated" });
    expect(other.open).toBe(true);
  });

  test("keeps its votes in the tally, without a trace of the account", async () => {
    const poll = await newPoll();
    const fan = await site.addAccount(`fan-${poll._id}`, []);
    const headers = { Authorization: `Bearer ${await site.signIn(fan)}` };
    await answer(poll._id, idOf(poll, 0), "viewer", headers);
    await patch(poll._id, { open: false });
    expect(await storedResponses(poll._id)).toHaveLength(1);
    await site.call("deleteAccount", { params: { id: fan.id } });
    await vi.waitUntil(async () => (await storedResponses(poll._id)).length === 0, { interval: 20 });
    expect(await counterAt(env, site.id, poll._id, counterOf(fan.id)).votesOf(fan.id)).toEqual([]);
    expect((await results(poll._id)).total).toBe(1);
  });
});
