import { beforeEach, expect, test, vi } from "vitest";
import { type ApiResponse, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { idOf, pollCalls } from "#test/polls.ts";
import { questionsOf } from "#test/questions.ts";
import { rundownsOf } from "#test/rundowns.ts";
import { createOverlay, eventsOf, logOf } from "#test/site-log.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";

// A Worker that dies after its commit reaches neither the channel nor the site's log. The cron finds what it has left behind within a
// minute or two; somebody who presses again doesn't wait for that.

let site: TestSite;
let viewer: Awaited<ReturnType<typeof openSocket>>;
const { newRundown, take, tryTake, clear } = rundownsOf(() => site);
const { newQuestion, decide } = questionsOf(() => site);
const { newPoll, settle } = pollCalls(() => site);

beforeEach(async () => {
  site = await newSite();
  viewer = await openSocket(site, site.channels[0]);
  await viewer.first("welcome");
});

/** Sends a request whose Worker dies before it wakes the site's log. */
async function loseNudge(request: () => Promise<ApiResponse>): Promise<ApiResponse> {
  // What came before must not take the request's event along.
  await logOf(site.id).nudge();
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

test("a question that is approved again takes effect", async () => {
  const { _id } = await newQuestion();
  await loseNudge(() => decide(_id, { state: "approved" }));
  await decide(_id, { state: "approved" });
  await waitForEvent("question.approved");
});
