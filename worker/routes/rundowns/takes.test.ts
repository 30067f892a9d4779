import { beforeAll, describe, expect, test } from "vitest";
import { committedEvents } from "#test/committed-events.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { rundownsOf } from "#test/rundowns.ts";
import { Poll } from "#worker/services/polls/schemas.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;
const { note, goal, newRundown, read, take, tryTake, clear, asRun, patch, onAir } = rundownsOf(() => site);

beforeAll(async () => {
  site = await newSite();
});

const eventsOf = async (id: string) =>
  (await committedEvents([site.id])).filter(({ resource }) => resource === `rundown/${id}`).map(({ type }) => type);

describe("a take", () => {
  test("shows the overlay under its own id, with the variables of the item and of the operator", async () => {
    const rundown = await newRundown([note(), await goal()]);
    const taken = await take(rundown._id, { variables: { scorer: "Ruth" } });
    expect(taken).toMatchObject({ generation: 0, kind: "broadcast", trigger: "operator", state: "done", message: null });
    expect(taken.endsAt).toBe(taken.takenAt + 60_000);
    expect(await onAir()).toContain(taken._id);
    const after = await read(rundown._id);
    expect(after).toMatchObject({ generation: 1, lastItemId: taken.itemId, nextItemId: null, onAir: [taken] });
    expect(await eventsOf(rundown._id)).toEqual(["rundown.created", "rundown.taken"]);
    const { results } = await siteStore.prepare("select data from outbox where resource = ?").bind(`overlay/${taken.targetId}`).all();
    expect(results).toEqual([]);
  });

  test("in one generation happens once, however many operators press at once, and all get the same", async () => {
    const rundown = await newRundown([await goal({ name: "Home" }), await goal({ name: "Away" })]);
    for (let generation = 0; generation < 20; generation++) {
      const choices = [0, 1, 0, 1].map((index) => rundown.items[index]?._id);
      const pressed = await Promise.all(
        choices.map((itemId, index) => tryTake(rundown._id, { itemId, generation }, { as: index % 2 === 0 ? "admin" : "creator" })),
      );
      expect(pressed.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(pressed.map(({ text }) => text)).size).toBe(1);
    }
    const log = await asRun(rundown._id);
    expect(log.map(({ generation }) => generation)).toEqual(Array.from({ length: 20 }, (_, generation) => generation));
    const shown = await onAir();
    expect(log.every(({ _id }) => shown.includes(_id))).toBe(true);
    const { results } = await siteStore
      .prepare("select count(*) as n from broadcasts where site_id = ? and overlay_id in (?, ?)")
      .bind(site.id, ...rundown.items.map((item) => ("overlayId" in item ? item.overlayId : "")))
      .all();
    expect(results).toEqual([{ n: 20 }]);
    expect((await eventsOf(rundown._id)).filter((type) => type === "rundown.taken")).toHaveLength(20);
  });

  test("of a generation that is yet to come is a conflict", async () => {
    const rundown = await newRundown();
    expect((await tryTake(rundown._id, { generation: 1 })).status).toBe(409);
  });

  test("that is rejected takes nothing, and the next one is in the same generation", async () => {
    const rundown = await newRundown([await goal()]);
    const [item] = rundown.items;
    expect((await tryTake(rundown._id, { variables: { scorer: 7 } })).status).toBe(400);
    await site.call("deleteOverlay", { params: { id: item && "overlayId" in item ? item.overlayId : "" } });
    expect((await tryTake(rundown._id, {})).status).toBe(404);
    expect(await asRun(rundown._id)).toEqual([]);
    expect((await read(rundown._id)).generation).toBe(0);
  });

  test("without an item takes the armed one, then what follows it, skips notes, and ends", async () => {
    const rundown = await newRundown([note(), await goal({ name: "A" }), note(), await goal({ name: "B" }), await goal({ name: "C" })]);
    expect((await take(rundown._id)).name).toBe("A");
    expect((await patch(rundown._id, { armedItemId: rundown.items[4]?._id })).nextItemId).toBe(rundown.items[4]?._id);
    expect((await take(rundown._id)).name).toBe("C");
    expect((await read(rundown._id)).armedItemId).toBeNull();
    expect((await tryTake(rundown._id)).status).toBe(409);
    expect((await take(rundown._id, { itemId: rundown.items[0]?._id })).kind).toBe("note");
  });

  test("of a poll opens, closes and settles it, and says if nothing was left to do", async () => {
    const pollId = await addResource(site, "poll");
    const poll = async () => (await site.call("getPoll", { params: { id: pollId } })).as(Poll);
    const { answers } = await poll();
    const item = (action: string, correctAnswerId?: string) => ({ kind: "poll", name: action, pollId, action, correctAnswerId });
    const rundown = await newRundown([
      item("close"),
      item("open"),
      item("open"),
      item("settle", answers[1]?._id),
      item("settle", answers[1]?._id),
    ]);
    const first = (await poll()).open ? null : "The poll was already closed";
    expect((await take(rundown._id)).message).toBe(first);
    expect((await take(rundown._id)).message).toBeNull();
    expect((await poll()).open).toBe(true);
    expect((await take(rundown._id)).message).toBe("The poll was already open");
    expect((await take(rundown._id)).message).toBeNull();
    expect(await poll()).toMatchObject({ open: false, correctAnswerId: answers[1]?._id });
    expect((await take(rundown._id)).message).toBe("There was nothing left to do");
    expect((await asRun(rundown._id)).map(({ action, state }) => [action, state])).toEqual([
      ["close", "done"],
      ["open", "done"],
      ["open", "done"],
      ["settle", "done"],
      ["settle", "done"],
    ]);
  });

  test("of a quest or raffle does it in the same commit", async () => {
    const questId = await addResource(site, "quest");
    const rundown = await newRundown([{ kind: "quest", name: "End", questId, action: "close" }]);
    expect(await take(rundown._id)).toMatchObject({ kind: "quest", action: "close", state: "done", message: null });
  });

  test("of a stream starts and stops it, once for two operators, and a failing provider fails the take", async () => {
    const streamId = await addResource(site, "stream");
    const rundown = await newRundown([
      { kind: "stream", name: "Go live", streamId, action: "start" },
      { kind: "stream", name: "Off", streamId, action: "stop" },
    ]);
    const [first, second] = await Promise.all([tryTake(rundown._id, { generation: 0 }), tryTake(rundown._id, { generation: 0 })]);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await asRun(rundown._id)).map(({ state, action }) => [state, action])).toEqual([["done", "start"]]);
    expect((await take(rundown._id, {})).state).toBe("done");
    // It can't start twice.
    await take(rundown._id, { itemId: rundown.items[0]?._id });
    expect((await tryTake(rundown._id, { itemId: rundown.items[0]?._id })).status).toBe(409);
    expect((await asRun(rundown._id)).at(-1)).toMatchObject({ state: "failed", message: "The stream is already live" });
    expect((await eventsOf(rundown._id)).filter((type) => type === "rundown.completed")).toHaveLength(4);
  });

  test("of another site's rundown is a 404", async () => {
    const rundown = await newRundown();
    const other = await newSite();
    expect((await other.call("takeRundownItem", { params: { id: rundown._id }, body: {} })).status).toBe(404);
    expect((await other.call("clearRundown", { params: { id: rundown._id }, body: {} })).status).toBe(404);
    expect((await read(rundown._id)).generation).toBe(0);
  });
});

describe("clearing", () => {
  test("removes the broadcasts of one item, of one take, or of the rundown, and says who did", async () => {
    const rundown = await newRundown([await goal({ name: "A" }), await goal({ name: "B" })]);
    const [a, b] = rundown.items.map(({ _id }) => _id);
    const takes = [await take(rundown._id, { itemId: a }), await take(rundown._id, { itemId: a }), await take(rundown._id, { itemId: b })];
    const [one, two, three] = takes.map(({ _id }) => _id);
    expect(await clear(rundown._id, { takeId: one })).toEqual([one]);
    expect(await clear(rundown._id, { itemId: a })).toEqual([two]);
    expect((await read(rundown._id)).onAir.map(({ _id }) => _id)).toEqual([three]);
    expect(await clear(rundown._id)).toEqual([three]);
    expect(await clear(rundown._id)).toEqual([]);
    const shown = await onAir();
    expect(takes.some(({ _id }) => shown.includes(_id))).toBe(false);
    expect((await asRun(rundown._id)).every(({ clearedAt, clearedBy }) => clearedAt !== null && clearedBy !== null)).toBe(true);
  });

  test("leaves what others show, unless it clears the whole channel", async () => {
    const rundown = await newRundown();
    const elsewhere = await newRundown();
    const [own, other] = [await take(rundown._id), await take(elsewhere._id)];
    await clear(rundown._id);
    expect(await onAir()).toContain(other._id);
    expect(await clear(rundown._id, { all: true })).toContain(other._id);
    expect(await onAir()).toEqual([]);
    expect((await asRun(elsewhere._id))[0]?.clearedAt).not.toBeNull();
    expect(own.clearedAt).toBeNull();
  });

  test("can't reach a take of another rundown", async () => {
    const [one, other] = [await newRundown(), await newRundown()];
    const taken = await take(one._id);
    expect(await clear(other._id, { takeId: taken._id })).toEqual([]);
    expect(await onAir()).toContain(taken._id);
  });
});
