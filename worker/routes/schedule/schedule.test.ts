import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { broadcastCalls } from "#test/broadcasts.ts";
import { committedEvents } from "#test/committed-events.ts";
import { type CallOptions, newSite, type TestSite } from "#test/harness.ts";
import { atNextBatch } from "#test/next-batch.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Poll } from "#worker/services/polls/schemas.ts";
import { Quest } from "#worker/services/quests/schemas.ts";
import { runDueActions } from "#worker/services/schedule/run.ts";
import { ScheduledAction } from "#worker/services/schedule/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const MINUTE = 60_000;
const List = listOf(ScheduledAction);

let site: TestSite;
const { newOverlay, active } = broadcastCalls(() => site);

beforeAll(async () => {
  site = await newSite();
});

async function schedule(body: Record<string, unknown>, options: CallOptions = {}) {
  return (await site.call("scheduleAction", { ...options, body })).as(ScheduledAction);
}

async function broadcastIn(seconds: number, options: CallOptions = {}) {
  const broadcast = { channelId: site.channels[0], variables: { scorer: "Ada" } };
  return schedule({ kind: "overlay.broadcast", targetId: await newOverlay(), in: seconds, broadcast }, options);
}

const read = async (id: string) => (await site.call("getScheduledAction", { params: { id } })).as(ScheduledAction);
const listed = async (query: Record<string, string>) => (await site.call("listScheduledActions", { query })).as(List).results;
/** Runs what is due at that time, as the site's scheduler does, twice at once. */
const run = (now: number) => Promise.all([runDueActions(env, site.id, now), runDueActions(env, site.id, now)]);
const eventsOf = async (id: string) => (await committedEvents([site.id])).filter(({ resource }) => resource.endsWith(`/${id}`));

async function newPoll(change: Record<string, unknown> = {}, on = site) {
  const body = {
    siteId: site.id,
    type: "prediction",
    question: "Who wins?",
    name: "Result",
    open: true,
    answers: [{ answer: "Home" }, { answer: "Away" }],
  };
  return (await on.call("createPoll", { body: { ...body, ...change } })).as(Poll);
}

async function newQuest(change: Record<string, unknown>) {
  const texts = { title: "Hero", description: "", rewardDescription: "", claimedMessage: "", rewardType: "prize" };
  return (await site.call("createQuest", { body: { siteId: site.id, ...texts, channelIds: [site.channels[0]], ...change } })).as(Quest);
}

describe("a scheduled broadcast", () => {
  test("is listed as pending, and shown once at its time, under the id of the action", async () => {
    const action = await broadcastIn(300);
    expect((await listed({ state: "pending" })).map(({ _id }) => _id)).toContain(action._id);
    await run(action.dueAt - 1);
    expect((await read(action._id)).state).toBe("pending");
    await run(action.dueAt);
    expect((await read(action._id)).state).toBe("done");
    expect((await active({ channelId: site.channels[0] })).filter(({ broadcastId }) => broadcastId === action._id)).toHaveLength(1);
    expect((await eventsOf(action._id)).map(({ type }) => type)).toEqual(["schedule.created", "schedule.completed"]);
  });

  test("takes an ISO time with an offset", async () => {
    const at = new Date(Date.now() + 10 * MINUTE).toISOString().replace("Z", "+00:00");
    const action = await schedule({ kind: "overlay.broadcast", targetId: await newOverlay(), at });
    expect(action.dueAt).toBe(Date.parse(at));
  });

  test("is missed if the server was down until more than five minutes later", async () => {
    const action = await broadcastIn(300);
    await run(action.dueAt + 5 * MINUTE + 1_000);
    const { state, message } = await read(action._id);
    expect([state, message]).toEqual(["missed", "The server was unavailable at that time, and for 301 s after it"]);
    expect((await active()).map(({ broadcastId }) => broadcastId)).not.toContain(action._id);
  });

  test("is either cancelled or shown, whichever comes first", async () => {
    for (let round = 0; round < 5; round++) {
      const action = await broadcastIn(300);
      const [cancelled] = await Promise.all([site.call("cancelScheduledAction", { params: { id: action._id } }), run(action.dueAt)]);
      const { state } = await read(action._id);
      const shown = (await active()).some(({ broadcastId }) => broadcastId === action._id);
      expect({ state, shown, status: cancelled.status }).toEqual(
        cancelled.status === 200 ? { state: "cancelled", shown: false, status: 200 } : { state: "done", shown: true, status: 409 },
      );
    }
  });

  test("fails if the key that scheduled it has lost the right since", async () => {
    const key = await site.addKey(["schedule:write", "overlay:write"]);
    const headers = { "Tifo-Developer-Key": key };
    const action = await broadcastIn(300, { as: "client", headers });
    await siteStore.prepare("update api_keys set roles = '[\"schedule:write\"]' where id = ?").bind(action.scheduledBy?.id).run();
    await run(action.dueAt);
    const { state, message } = await read(action._id);
    expect([state, message]).toEqual(["failed", "The developer key lacks the role overlay:write"]);
    expect((await active()).map(({ broadcastId }) => broadcastId)).not.toContain(action._id);
  });

  test("is cancelled with an event when its overlay or its channel is deleted", async () => {
    const [overlayGone, other] = [await broadcastIn(300), await broadcastIn(300)];
    await site.call("deleteOverlay", { params: { id: overlayGone.targetId } });
    const channelId = await site.addChannel("short-lived", { external_field_1: "match-of-one" });
    const byMetadata = { pageMetadata: "match-of-one", variables: { scorer: "Ada" } };
    const matching = await schedule({ kind: "overlay.broadcast", targetId: await newOverlay(), in: 300, broadcast: byMetadata });
    expect(matching.channelId).toBe(channelId);
    const channelGone = await schedule({ kind: "overlay.broadcast", targetId: await newOverlay(), in: 300, broadcast: { channelId } });
    await site.call("deletePage", { params: { id: channelId } });
    for (const [{ _id: id, broadcast }, message] of [
      [overlayGone, "It was deleted"],
      [channelGone, "The channel was deleted"],
    ] as const) {
      const action = await read(id);
      expect(action).toMatchObject({ state: "cancelled", message, broadcast });
      const events = await eventsOf(id);
      expect(events.map(({ type }) => type)).toEqual(["schedule.created", "schedule.cancelled"]);
      expect(ScheduledAction.parse(JSON.parse(events[1]?.data ?? ""))).toEqual(action);
    }
    // Until it is due, another channel may have the metadata.
    for (const { _id } of [other, matching]) expect(await read(_id)).toMatchObject({ state: "pending", message: null });
  });

  test("to several channels reaches those that exist when it is due, and fails without any", async () => {
    const [gone, other] = [await site.addChannel("gone"), await site.addChannel("gone-too")];
    const to = async (channelIds: string[]) =>
      schedule({ kind: "overlay.broadcast", targetId: await newOverlay(), in: 300, broadcast: { channelIds } });
    const some = await to([gone, site.channels[0], other, site.channels[1]]);
    const none = await to([gone, other]);
    for (const id of [gone, other]) await site.call("deletePage", { params: { id } });
    await run(some.dueAt);
    await run(none.dueAt);
    expect((await read(some._id)).state).toBe("done");
    for (const channelId of site.channels) expect((await active({ channelId })).map(({ broadcastId }) => broadcastId)).toContain(some._id);
    expect(await read(none._id)).toMatchObject({ state: "failed", message: "Channel not found" });
  });

  test("is rejected if its overlay, its channel or its segment goes between the check and the write", async () => {
    const channelId = await site.addChannel("gone-meanwhile");
    const segments = (userSegments: Record<string, unknown>) =>
      site.call("updateSite", { body: { name: "Harbour City", settings: { userSegments } } });
    await segments({ brief: { name: "Brief", filter: { attribute: "tags", operator: "any_of", value: ["a"] } } });
    const targetId = await newOverlay();
    const other = await newOverlay();
    for (const [path, remove, body] of [
      ["targetId", () => site.call("deleteOverlay", { params: { id: targetId } }), { targetId, broadcast: {} }],
      ["broadcast.channelId", () => site.call("deletePage", { params: { id: channelId } }), { targetId: other, broadcast: { channelId } }],
      ["broadcast.segment", () => segments({}), { targetId: other, broadcast: { segment: "brief" } }],
    ] as const) {
      const write = atNextBatch("schedule.created", { before: async () => expect((await remove()).status).toBe(200) });
      const { status, fields } = await site.call("scheduleAction", { body: { kind: "overlay.broadcast", in: 300, ...body } });
      write.restore();
      expect([path, write.isOver, status, fields]).toEqual([path, true, 400, [path]]);
      expect(await listed({ targetId: body.targetId, state: "pending" })).toEqual([]);
    }
  });
});

describe("scheduling", () => {
  test("needs the right to do the same now", async () => {
    const overlay = await newOverlay();
    const body = { kind: "overlay.broadcast", targetId: overlay, in: 60, broadcast: { channelId: site.channels[1] } };
    expect((await site.call("scheduleAction", { as: "creator", body })).status).toBe(403);
    const headers = { "Tifo-Developer-Key": await site.addKey(["schedule:write"]) };
    expect((await site.call("scheduleAction", { as: "client", headers, body })).status).toBe(403);
    const poll = await newPoll();
    expect((await site.call("scheduleAction", { as: "creator", body: { kind: "poll.close", targetId: poll._id, in: 60 } })).status).toBe(
      403,
    );
  });

  test("names what is wrong with a broadcast by its place in the request", async () => {
    const targetId = await newOverlay();
    const fieldsOf = async (broadcast: Record<string, unknown>) =>
      (await site.call("scheduleAction", { body: { kind: "overlay.broadcast", targetId, in: 60, broadcast } })).fields;
    expect(await fieldsOf({ segment: "unknown" })).toEqual(["broadcast.segment"]);
    expect(await fieldsOf({ variables: { nothing: 1 } })).toEqual(["broadcast.variables.nothing"]);
    const body = { kind: "poll.open", targetId: (await newPoll())._id, in: 60, broadcast: {} };
    expect((await site.call("scheduleAction", { body })).fields).toEqual(["broadcast"]);
  });

  test.each([{ at: 1000 }, { at: "2020-01-01T00:00:00Z" }, { at: 1, in: 1 }, {}])("rejects the time %j", async (time) => {
    const response = await site.call("scheduleAction", { body: { kind: "overlay.broadcast", targetId: await newOverlay(), ...time } });
    expect([response.status, response.fields]).toEqual([400, ["at"]]);
  });

  test("shows and cancels nothing of another site", async () => {
    const action = await broadcastIn(300);
    const other = await newSite();
    expect((await other.call("getScheduledAction", { params: { id: action._id } })).status).toBe(404);
    expect((await other.call("cancelScheduledAction", { params: { id: action._id } })).status).toBe(404);
  });
});

describe("a site", () => {
  test("has at most 1,000 pending actions", async () => {
    const own = await newSite();
    const body = { kind: "poll.open", targetId: (await newPoll({ siteId: own.id }, own))._id, in: 3_600 };
    const { _id } = (await own.call("scheduleAction", { body })).as(ScheduledAction);
    const columns = Object.keys((await siteStore.prepare("select * from scheduled_actions where id = ?").bind(_id).first()) ?? {});
    const copied = columns.map((name) => (name === "id" ? "printf('%024x', value)" : name));
    const copies = `select ${copied.join()} from scheduled_actions, json_each(?) as number where scheduled_actions.id = ?`;
    const numbers = JSON.stringify(Array.from({ length: 998 }, (_each, index) => index));
    await siteStore.prepare(`insert into scheduled_actions (${columns.join()}) ${copies}`).bind(numbers, _id).run();
    const answers = [await own.call("scheduleAction", { body }), await own.call("scheduleAction", { body })];
    expect(answers.map(({ status }) => status)).toEqual([201, 409]);
    expect(answers[1]?.problem?.message).toBe("The site already has the maximum of 1000 pending actions");
  });

  test("lets channel admins cancel what others have scheduled only where they may write", async () => {
    const [mine, read] = site.channels;
    const account = await site.addAccount("half-admin", [
      { scope: "*", pageId: [mine], write: true },
      { scope: "*", pageId: [read], write: false },
    ]);
    const headers = { Authorization: `Bearer ${await site.signIn(account)}` };
    const statuses = [];
    for (const channelId of [mine, read]) {
      const broadcast = { channelId, variables: { scorer: "Ada" } };
      const { _id } = await schedule({ kind: "overlay.broadcast", targetId: await newOverlay(), in: 60, broadcast });
      statuses.push((await site.call("cancelScheduledAction", { as: "client", headers, params: { id: _id } })).status);
    }
    expect(statuses).toEqual([200, 403]);
  });
});

describe("a scheduled poll", () => {
  test("opens and closes at its times, and closes however late", async () => {
    const poll = await newPoll({ open: false });
    const opening = await schedule({ kind: "poll.open", targetId: poll._id, in: 60 });
    const closing = await schedule({ kind: "poll.close", targetId: poll._id, in: 120 });
    const isOpen = async () => (await site.call("getPoll", { params: { id: poll._id } })).as(Poll).open;
    await run(opening.dueAt);
    expect(await isOpen()).toBe(true);
    await run(closing.dueAt + 60 * MINUTE);
    expect(await isOpen()).toBe(false);
  });

  test("that should have opened and closed while the server was down has done both, in this order", async () => {
    const poll = await newPoll({ open: false });
    // Scheduled in the other order.
    const closing = await schedule({ kind: "poll.close", targetId: poll._id, in: 120 });
    await schedule({ kind: "poll.open", targetId: poll._id, in: 60 });
    await run(closing.dueAt);
    expect((await site.call("getPoll", { params: { id: poll._id } })).as(Poll).open).toBe(false);
    expect((await eventsOf(poll._id)).map(({ type }) => type)).toEqual(["poll.created", "poll.opened", "poll.closed"]);
  });

  test("has an event for each time that is scheduled and cancelled, and none for one that stays", async () => {
    const poll = await newPoll({ locksAt: Date.now() + MINUTE });
    const change = (body: Record<string, unknown>) => site.call("patchPoll", { params: { id: poll._id }, body });
    await change({ name: "Renamed" });
    await change({ locksAt: Date.now() + 2 * MINUTE });
    const opening = await schedule({ kind: "poll.open", targetId: poll._id, in: 60 });
    await site.call("deletePoll", { params: { id: poll._id } });
    const actions = await listed({ targetId: poll._id });
    expect(actions.map(({ source, state, message }) => [source, state, message])).toEqual([
      ["poll", "cancelled", "The time was changed"],
      ["request", "cancelled", "It was deleted"],
      ["poll", "cancelled", "It was deleted"],
    ]);
    for (const action of actions) {
      const events = await eventsOf(action._id);
      expect(events.map(({ type }) => type)).toEqual(["schedule.created", "schedule.cancelled"]);
      expect(ScheduledAction.parse(JSON.parse(events[1]?.data ?? ""))).toEqual(action);
    }
    expect((await listed({ state: "pending", targetId: poll._id })).length).toBe(0);
    expect(await site.call("cancelScheduledAction", { params: { id: opening._id } })).toMatchObject({ status: 200 });
    expect((await eventsOf(opening._id)).length).toBe(2);
  });

  test("counts no response from its lock on, and closes then", async () => {
    const locksAt = Date.now() + MINUTE;
    const poll = await newPoll({ locksAt });
    const respond = (as: "viewer" | "creator") =>
      site.call("respondToPoll", { params: { id: poll._id }, as, body: { answerId: poll.answers[0]?._id } });
    vi.useFakeTimers({ toFake: ["Date"], now: locksAt - 1 });
    expect((await respond("viewer")).status).toBe(201);
    vi.setSystemTime(locksAt);
    expect((await respond("creator")).problem?.code).toBe("poll_closed");
    vi.useRealTimers();
    const [action] = await listed({ targetId: poll._id });
    expect(action).toMatchObject({ kind: "poll.close", source: "poll", dueAt: locksAt, state: "pending" });
    await run(locksAt);
    expect((await site.call("getPoll", { params: { id: poll._id } })).as(Poll)).toMatchObject({ open: false });
    expect((await eventsOf(poll._id)).map(({ type }) => type)).toEqual(["poll.created", "poll.closed"]);
  });

  test("can't be opened with a lock in the past, and follows a lock that moves", async () => {
    const poll = await newPoll({ locksAt: Date.now() + MINUTE });
    const locksAt = Date.now() + 2 * MINUTE;
    await site.call("patchPoll", { params: { id: poll._id }, body: { locksAt } });
    expect((await listed({ targetId: poll._id })).map(({ state, dueAt }) => [state, dueAt])).toEqual([
      ["cancelled", poll.locksAt],
      ["pending", locksAt],
    ]);
    expect((await site.call("patchPoll", { params: { id: poll._id }, body: { locksAt: 1000 } })).fields).toEqual(["locksAt"]);
  });

  test("is cancelled where its time is set", async () => {
    const poll = await newPoll({ locksAt: Date.now() + MINUTE });
    const [action] = await listed({ targetId: poll._id });
    expect((await site.call("cancelScheduledAction", { params: { id: action?._id ?? "" } })).status).toBe(409);
  });
});

describe("a quest with times", () => {
  test("announces its opening and its end once, and says so", async () => {
    const timeMinimum = Math.floor(Date.now() / 1000) + 60;
    const quest = await newQuest({ timeMinimum, timeMaximum: timeMinimum + 60 });
    expect(quest.state).toBe("upcoming");
    await run(timeMinimum * 1000);
    await run((timeMinimum + 60) * 1000 + 1);
    expect((await eventsOf(quest._id)).map(({ type, data }) => [type, Quest.parse(JSON.parse(data)).state])).toEqual([
      ["quest.created", "upcoming"],
      ["quest.opened", "open"],
      ["quest.ended", "ended"],
    ]);
  });

  test("announces an opening that the server was down for, before its end", async () => {
    const timeMinimum = Math.floor(Date.now() / 1000) + 60;
    const quest = await newQuest({ timeMinimum, timeMaximum: timeMinimum + 60 });
    await run((timeMinimum + 3600) * 1000);
    expect((await eventsOf(quest._id)).map(({ type }) => type)).toEqual(["quest.created", "quest.opened", "quest.ended"]);
  });

  test("keeps the times that don't change when it is edited", async () => {
    const timeMinimum = Math.floor(Date.now() / 1000) + 60;
    const quest = await newQuest({ timeMinimum, timeMaximum: timeMinimum + 60 });
    const texts = { title: "Heroine", description: "", rewardDescription: "", claimedMessage: "", rewardType: "prize" };
    const body = { siteId: site.id, ...texts, channelIds: [site.channels[0]], timeMinimum, timeMaximum: timeMinimum + 120 };
    expect((await site.call("replaceQuest", { params: { id: quest._id }, body })).status).toBe(200);
    expect((await listed({ targetId: quest._id })).map(({ kind, state, dueAt }) => [kind, state, dueAt])).toEqual([
      ["quest.open", "pending", timeMinimum * 1000],
      ["quest.close", "cancelled", (timeMinimum + 60) * 1000 + 1],
      ["quest.close", "pending", (timeMinimum + 120) * 1000 + 1],
    ]);
  });

  test("can be opened only before it has ended, and ended only once it has opened", async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    for (const [kind, times, message] of [
      ["quest.open", { timeMaximum: seconds - 60 }, "The quest has ended"],
      ["quest.close", { timeMinimum: seconds + 3_600 }, "The quest hasn't opened yet"],
    ] as const) {
      const action = await schedule({ kind, targetId: (await newQuest(times))._id, in: 60 });
      await run(action.dueAt);
      expect(await read(action._id)).toMatchObject({ state: "failed", message });
    }
  });

  test("that is open already stays as it is, and says so", async () => {
    const { _id, modified } = await newQuest({});
    const action = await schedule({ kind: "quest.open", targetId: _id, in: 60 });
    await run(action.dueAt);
    expect(await read(action._id)).toMatchObject({ state: "done", message: "The quest was already open" });
    expect((await site.call("getQuest", { params: { id: _id } })).as(Quest).modified).toBe(modified);
  });

  test("that is closed at a time has ended from then on", async () => {
    const quest = await newQuest({});
    const closing = await schedule({ kind: "quest.close", targetId: quest._id, in: 0 }, { as: "creator" });
    await run(closing.dueAt);
    const after = (await site.call("getQuest", { params: { id: quest._id } })).as(Quest);
    expect(after.state).toBe("ended");
    expect((await eventsOf(quest._id)).map(({ type }) => type)).toEqual(["quest.created", "quest.ended"]);
  });
});
