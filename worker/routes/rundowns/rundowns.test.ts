import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { rundownsOf } from "#test/rundowns.ts";
import { addResource } from "#test/resources.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Operators, Rundown, RundownSummary } from "#worker/services/rundowns/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const List = listOf(RundownSummary);

let site: TestSite;
const { note, goal, newRundown, read, take, replace, patch, tryTake } = rundownsOf(() => site);

beforeAll(async () => {
  site = await newSite();
});

const edit = (items: { _id: string }[]) => items.map((item) => ({ ...item }));

describe("a rundown", () => {
  test("is created with ids for its items, and listed without them", async () => {
    const rundown = await newRundown([note(), await goal()]);
    expect(rundown).toMatchObject({ generation: 0, lastItemId: null, nextItemId: rundown.items[1]?._id, onAir: [], itemCount: 2 });
    const { results } = (await site.call("listRundowns", { query: { channelId: site.channels[0] } })).as(List);
    expect(results.find(({ _id }) => _id === rundown._id)).toMatchObject({ name: "Derby", itemCount: 2 });
    expect((await site.call("listRundowns", { query: { channelId: site.channels[1] } })).as(List).results).toEqual([]);
  });

  test("names each reference that the site doesn't have", async () => {
    const other = await newSite();
    const [overlayId, pollId] = [await addResource(other, "overlay"), await addResource(other, "poll")];
    const [questId, streamId] = [await addResource(other, "quest"), await addResource(other, "stream")];
    const items = [
      { kind: "broadcast", name: "a", overlayId },
      { kind: "poll", name: "b", pollId, action: "close" },
      { kind: "raffle", name: "c", questId, winners: 1 },
      { kind: "stream", name: "d", streamId, action: "start" },
      { kind: "broadcast", name: "e", overlayId: await addResource(site, "overlay"), broadcast: { segment: "nobody" } },
    ];
    const response = await site.call("createRundown", { body: { channelId: site.channels[0], name: "Foreign", items } });
    expect([response.status, response.fields]).toEqual([
      400,
      ["items.0.overlayId", "items.1.pollId", "items.2.questId", "items.3.streamId", "items.4.broadcast.segment"],
    ]);
    const elsewhere = await site.call("createRundown", { body: { channelId: other.channels[0], name: "Foreign", items: [] } });
    expect([elsewhere.status, elsewhere.fields]).toEqual([400, ["channelId"]]);
  });

  test("says which of its items can't be taken because what they need was deleted", async () => {
    const overlayId = await addResource(site, "overlay");
    const items = [
      { kind: "broadcast", name: "overlays", overlayId },
      { kind: "poll", name: "polls", pollId: await addResource(site, "poll"), action: "close" },
      { kind: "quest", name: "quests", questId: await addResource(site, "quest"), action: "open" },
      { kind: "stream", name: "streams", streamId: await addResource(site, "stream"), action: "start" },
    ];
    const rundown = await newRundown([...items, { ...items[0], name: "kept", overlayId: await addResource(site, "overlay") }, note()]);
    expect(rundown.brokenItemIds).toEqual([]);
    for (const [index, { name: table, overlayId, pollId, questId, streamId }] of items.entries()) {
      await siteStore
        .prepare(`delete from ${table} where id = ?`)
        .bind(overlayId ?? pollId ?? questId ?? streamId)
        .run();
      const { brokenItemIds } = await read(rundown._id);
      expect(brokenItemIds).toEqual(rundown.items.slice(0, index + 1).map(({ _id }) => _id));
    }
    expect((await tryTake(rundown._id)).status).toBe(404);
    const mended = await replace(rundown, rundown.items.slice(1));
    expect(mended.as(Rundown).brokenItemIds).toHaveLength(3);
  });

  test("keeps the ids of items that stay, and rejects those of others", async () => {
    const rundown = await newRundown([note("One"), note("Two")]);
    const [one, two] = rundown.items;
    const replaced = (await replace(rundown, [{ ...two, name: "Second" }, note("Three"), { ...one }])).as(Rundown);
    expect(replaced.items.map(({ _id, name }) => [_id === one?._id || _id === two?._id, name])).toEqual([
      [true, "Second"],
      [false, "Three"],
      [true, "One"],
    ]);
    const stolen = await newRundown([note()]);
    expect((await replace(rundown, edit(stolen.items))).fields).toEqual(["items.0._id"]);
    expect((await replace(rundown, [{ ...one }, { ...one }])).fields).toEqual(["items.1._id"]);
  });

  test("that was edited since rejects an older If-Match, but takes don't invalidate one", async () => {
    const rundown = await newRundown([await goal(), note()]);
    const etag = async () => (await site.call("getRundown", { params: { id: rundown._id } })).headers.get("ETag") ?? "";
    const before = await etag();
    await take(rundown._id);
    expect(await etag()).not.toBe(before);
    expect((await replace(rundown, edit(rundown.items).reverse(), { headers: { "If-Match": before } })).status).toBe(200);
    expect((await replace(rundown, edit(rundown.items), { headers: { "If-Match": before } })).status).toBe(412);
  });

  test("keeps its position when items are moved or removed", async () => {
    const rundown = await newRundown([await goal({ name: "A" }), await goal({ name: "B" }), await goal({ name: "C" })]);
    const [a, b, c] = rundown.items;
    await take(rundown._id, { itemId: b?._id });
    const replaced = (await replace(rundown, [{ ...a }, { ...c }])).as(Rundown);
    expect([replaced.lastItemId, replaced.nextItemId]).toEqual([a?._id, c?._id]);
  });

  test("survives takes and edits at once: none is lost", async () => {
    const rundown = await newRundown([await goal(), await goal(), await goal()]);
    const takes = rundown.items.map(({ _id }) => take(rundown._id, { itemId: _id }));
    const edits = [replace(rundown, edit(rundown.items).reverse()), patch(rundown._id, { held: true })];
    await Promise.all([...takes, ...edits]);
    const { generation, held, items } = await read(rundown._id);
    expect(generation).toBeGreaterThan(0);
    expect([held, items.map(({ _id }) => _id)]).toEqual([true, rundown.items.map(({ _id }) => _id).reverse()]);
  });

  test("is deleted with its log, and with its channel", async () => {
    const channelId = await site.addChannel("short-lived");
    const body = { channelId, name: "Short", items: [note()] };
    const rundown = (await site.call("createRundown", { body })).as(Rundown);
    await take(rundown._id, { itemId: rundown.items[0]?._id });
    await site.call("announceOperator", { params: { id: rundown._id }, body: {} });
    expect((await site.call("deletePage", { params: { id: channelId } })).status).toBe(200);
    expect((await site.call("getRundown", { params: { id: rundown._id } })).status).toBe(404);
    for (const table of ["rundown_takes", "rundown_operators"]) {
      const { results } = await siteStore.prepare(`select * from ${table} where rundown_id = ?`).bind(rundown._id).all();
      expect(results, table).toEqual([]);
    }
    const other = await newRundown([note()]);
    expect((await site.call("deleteRundown", { params: { id: other._id } })).status).toBe(204);
    expect((await site.call("listAsRun", { params: { id: other._id } })).status).toBe(404);
  });
});

describe("the rights to a rundown", () => {
  test("of a creator end with their channels", async () => {
    const own = await newRundown([note()]);
    const body = { channelId: site.channels[1], name: "Backstage", items: [note()] };
    const other = (await site.call("createRundown", { body })).as(Rundown);
    expect((await site.call("listRundowns", { as: "creator" })).as(List).results.map(({ _id }) => _id)).not.toContain(other._id);
    expect((await site.call("listRundowns", { as: "creator" })).as(List).results.map(({ _id }) => _id)).toContain(own._id);
    const params = { id: other._id };
    for (const [operationId, more] of [
      ["getRundown", {}],
      ["listAsRun", {}],
      ["takeRundownItem", { body: {} }],
      ["clearRundown", { body: {} }],
      ["announceOperator", { body: {} }],
      ["patchRundown", { body: { held: true } }],
      ["replaceRundown", { body: { name: "Mine", items: [] } }],
      ["deleteRundown", {}],
    ] as const)
      expect.soft((await site.call(operationId, { as: "creator", params, ...more })).status, operationId).toBe(403);
    expect((await site.call("createRundown", { as: "creator", body })).status).toBe(403);
  });

  test("to add an item are those to do the same directly", async () => {
    const key = { "Tifo-Developer-Key": await site.addKey(["rundown:write"]) };
    const body = { channelId: site.channels[0], name: "By key", items: [await goal()] };
    expect((await site.call("createRundown", { as: "client", headers: key, body })).status).toBe(403);
    const poll = { kind: "poll", name: "Lock", pollId: await addResource(site, "poll"), action: "close" };
    expect((await site.call("createRundown", { as: "creator", body: { ...body, items: [poll] } })).status).toBe(403);
    expect((await site.call("createRundown", { as: "creator", body })).status).toBe(201);
  });

  test("to take one are those to run the rundown, also for a button's key", async () => {
    const poll = { kind: "poll", name: "Lock", pollId: await addResource(site, "poll"), action: "close" };
    const rundown = await newRundown([poll, await goal()]);
    const moved = await replace(rundown, edit(rundown.items).reverse(), { as: "creator" });
    expect(moved.status).toBe(200);
    expect((await tryTake(rundown._id, { itemId: rundown.items[0]?._id }, { as: "creator" })).status).toBe(200);
    await patch(rundown._id, { armedItemId: rundown.items[1]?._id });
    const headers = { "Tifo-Developer-Key": await site.addKey(["rundown:write"]) };
    expect((await tryTake(rundown._id, {}, { as: "client", headers })).status).toBe(200);
    const reader = { "Tifo-Developer-Key": await site.addKey(["rundown:read"]) };
    expect((await tryTake(rundown._id, {}, { as: "client", headers: reader })).status).toBe(403);
  });
});

describe("presence", () => {
  test("lists who has the rundown open until they leave, and who asks", async () => {
    const rundown = await newRundown([note()]);
    const params = { id: rundown._id };
    await site.call("announceOperator", { as: "creator", params, body: {} });
    const { operators } = (await site.call("announceOperator", { as: "admin", params, body: {} })).as(Operators);
    expect(operators.map(({ id, name, isCaller }) => [id, name, isCaller]).sort()).toEqual(
      [
        [site.accounts.creator.id, "creator", false],
        [site.accounts.admin.id, "admin", true],
      ].sort(),
    );
    await site.call("announceOperator", { as: "creator", params, body: { open: false } });
    expect((await read(rundown._id)).operators.map(({ id }) => id)).toEqual([site.accounts.admin.id]);
    await siteStore.prepare("update rundown_operators set seen_at = seen_at - 31000 where rundown_id = ?").bind(rundown._id).run();
    expect((await read(rundown._id)).operators).toEqual([]);
  });
});
