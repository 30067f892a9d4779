import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test, vi } from "vitest";
import type { z } from "@hono/zod-openapi";
import { type ApiResponse, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { createDb } from "#db/client.ts";
import { atNextBatch } from "#test/next-batch.ts";
import { idOf, pollCalls } from "#test/polls.ts";
import { questionsOf } from "#test/questions.ts";
import { rundownsOf } from "#test/rundowns.ts";
import { siteStore } from "#test/site-store.ts";
import { createOverlay, eventsOf, logOf } from "#test/site-log.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { switchPoll } from "#worker/services/polls/polls.ts";
import { runDueRundowns } from "#worker/services/rundowns/due.ts";
import { runDueActions } from "#worker/services/schedule/run.ts";
import { ScheduledAction } from "#worker/services/schedule/schemas.ts";

// A Worker that dies after its commit reaches neither the channel nor the site's log. The cron finds what it has left behind within a
// minute or two; somebody who presses again doesn't wait for that.

let site: TestSite;
let viewer: Awaited<ReturnType<typeof openSocket>>;
const { goal, newRundown, take, tryTake, clear } = rundownsOf(() => site);
const { newQuestion, decide } = questionsOf(() => site);
const { newPoll, settle } = pollCalls(() => site);

beforeEach(async () => {
  site = await newSite();
  viewer = await openSocket(site, site.channels[0]);
  await viewer.first("welcome");
});

/** The site's log is up to date and has nothing left to do, so that nothing from before takes along what follows. */
async function quietLog(): Promise<void> {
  const log = logOf(site.id);
  await log.nudge();
  await runInDurableObject(log, (_, { storage }) => storage.deleteAlarm());
}

/** Sends a request whose Worker dies before it wakes the site's log. */
async function loseNudge(request: () => Promise<ApiResponse>): Promise<ApiResponse> {
  await quietLog();
  const nudge = vi.spyOn(SiteLog.prototype, "nudge").mockResolvedValue();
  const response = await request();
  await vi.waitFor(() => expect(nudge).toHaveBeenCalled());
  nudge.mockRestore();
  return response;
}

/** The same of one that dies before it reaches a channel. */
async function die(request: () => Promise<ApiResponse>): Promise<void> {
  const down = new Error("The Worker has died");
  const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(down);
  const clear = vi.spyOn(Channel.prototype, "clear").mockRejectedValue(down);
  expect((await loseNudge(request)).status).toBe(503);
  for (const method of [publish, clear]) method.mockRestore();
}

async function waitForEvent(type: string): Promise<void> {
  await vi.waitFor(async () => expect((await eventsOf(site.id)).map((event) => event.type)).toContain(type));
}

test("a take that is pressed again is shown", async () => {
  const { _id } = await newRundown();
  await die(() => tryTake(_id, { generation: 0 }));
  expect(viewer.log).toEqual([]);
  const taken = await take(_id, { generation: 0 });
  expect((await viewer.first("overlay.show")).broadcastId).toBe(taken._id);
});

test("a rundown that is cleared again is cleared", async () => {
  const { _id } = await newRundown();
  const taken = await take(_id);
  await die(() => site.call("clearRundown", { params: { id: _id }, body: { takeId: taken._id } }));
  expect(await clear(_id, { takeId: taken._id })).toEqual([]);
  expect((await viewer.first("overlay.clear")).broadcastIds).toEqual([taken._id]);
});

test("a broadcast that is cleared again is cleared", async () => {
  const { _id } = await newRundown();
  const taken = await take(_id);
  const clearIt = () => site.call("clearBroadcasts", { body: { broadcastId: taken._id } });
  await die(clearIt);
  expect((await clearIt()).status).toBe(404);
  expect((await viewer.first("overlay.clear")).broadcastIds).toEqual([taken._id]);
});

test("a broadcast whose Idempotency-Key is sent again is shown", async () => {
  const params = { id: await createOverlay(site) };
  const call = { params, body: { channelId: site.channels[0] }, headers: { "Idempotency-Key": "goal-1" } };
  await die(() => site.call("broadcastOverlay", call));
  expect((await site.call("broadcastOverlay", call)).problem?.code).toBe("idempotency_unanswered");
  await viewer.first("overlay.show");
});

test("a poll that is settled again pays its leaderboards", async () => {
  const poll = await newPoll();
  await loseNudge(() => settle(poll._id, idOf(poll, 0)));
  await settle(poll._id, idOf(poll, 0));
  await waitForEvent("poll.settled");
});

test("a poll that is locked again by the rule that has locked it is closed for viewers", async () => {
  const poll = await newPoll();
  await loseNudge(() => site.call("patchPoll", { params: { id: poll._id }, body: { open: false } }));
  await asSystem({ env, db: createDb(siteStore), now: Date.now() }, site.id, (ctx) => switchPoll(ctx, poll._id, false));
  await waitForEvent("poll.closed");
});

test("a question that is approved again takes effect", async () => {
  const { _id } = await newQuestion();
  await loseNudge(() => decide(_id, { state: "approved" }));
  await decide(_id, { state: "approved" });
  await waitForEvent("question.approved");
});

const MINUTE = 60_000;

/** A broadcast that is scheduled in a minute. */
async function scheduleBroadcast(): Promise<z.infer<typeof ScheduledAction>> {
  const body = { kind: "overlay.broadcast", targetId: await createOverlay(site), in: 60, broadcast: { channelId: site.channels[0] } };
  return (await site.call("scheduleAction", { body })).as(ScheduledAction);
}

/** The database's answer to the batch that broadcasts is lost, although it has committed. */
async function loseAnswer(run: () => Promise<unknown>): Promise<void> {
  await quietLog();
  const lost = atNextBatch("overlay.broadcast", {
    after() {
      throw new Error("Network connection lost");
    },
  });
  await run();
  expect(lost.isOver).toBe(true);
  lost.restore();
}

test("a scheduled broadcast that was committed without an answer is shown", async () => {
  const { _id, dueAt } = await scheduleBroadcast();
  await loseAnswer(() => runDueActions(env, site.id, dueAt));
  expect((await viewer.first("overlay.show")).broadcastId).toBe(_id);
});

test("a timed item that was committed without an answer is shown when its rundown runs again", async () => {
  const at = Date.now() + MINUTE;
  await newRundown([await goal({ at })]);
  await loseAnswer(() => runDueRundowns(env, site.id, at));
  expect(viewer.log).toEqual([]);
  await runDueRundowns(env, site.id, at + 1_000);
  await viewer.first("overlay.show");
});

test("what a scheduler has committed before it was interrupted is shown when its alarm runs again", async () => {
  const { _id, dueAt } = await scheduleBroadcast();
  await quietLog();
  const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("The object has died"));
  const nudge = vi.spyOn(SiteLog.prototype, "nudge").mockResolvedValue();
  await (
    await runDueActions(env, site.id, dueAt)
  ).finish;
  for (const lost of [publish, nudge]) lost.mockRestore();
  expect(viewer.log).toEqual([]);
  await runInDurableObject(schedulerOf(env, site.id), (scheduler) => scheduler.alarm());
  expect((await viewer.first("overlay.show")).broadcastId).toBe(_id);
});
