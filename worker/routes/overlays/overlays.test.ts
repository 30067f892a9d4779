import { beforeAll, describe, expect, test } from "vitest";
import { type Caller, newSite, type TestSite } from "#test/harness.ts";
import { addFile } from "#test/files-and-skus.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";

const OverlayList = listOf(Overlay);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await addFile(site, rive.mediaId);
});

const html = { kind: "html", html: "<b>Goal!</b>", position: "bottomCenter" };
const rive = { kind: "rive", mediaId: newId(1), fileName: "goal.riv", position: "center" };

function input(change: Record<string, unknown> = {}, on = site): Record<string, unknown> {
  return { name: "Goal", description: "Home side scores", siteId: on.id, type: "template", duration: 8, contents: [html], ...change };
}

const create = (change: Record<string, unknown> = {}, on = site) => on.call("createOverlay", { body: input(change, on) });

describe("an overlay", () => {
  test("is read by channel admins if it can be shown on their channels, and by no viewer", async () => {
    const [own, other] = site.channels;
    const instance = (channels: string[]) => create({ type: "instance", contents: [{ ...html, channels }] });
    const [everywhere, here, there] = await Promise.all([create(), instance([own, other]), instance([other])]);
    const ids = [everywhere, here, there].map((created) => created.as(Overlay)._id);
    const listed = async (as: Caller) => {
      const { results } = (await site.call("listOverlays", { as, query: { limit: 200 } })).as(OverlayList);
      return ids.map((id) => results.some(({ _id }) => _id === id));
    };
    const read = async (as: Caller) => Promise.all(ids.map(async (id) => (await site.call("getOverlay", { as, params: { id } })).status));
    expect([await listed("reader"), await read("reader")]).toEqual([
      [true, true, true],
      [200, 200, 200],
    ]);
    expect([await listed("creator"), await read("creator")]).toEqual([
      [true, true, false],
      [200, 200, 404],
    ]);
    expect([(await site.call("listOverlays", { as: "viewer" })).status, await read("viewer")]).toEqual([403, [403, 403, 403]]);
  });

  test("is returned as created, and can be read by its id", async () => {
    const cta = { type: "open_link", data: { url: "https://demo.example/replay" } };
    const contents = [html, { ...rive, variables: { scorer: "Ada", minute: 17, own: true }, url: "https://demo.example/goal.riv" }];
    const created = await create({ contents, cta });
    expect(created.as(Overlay)).toMatchObject({ ...input({ contents, cta }) });
    const read = await site.call("getOverlay", { params: { id: created.as(Overlay)._id } });
    expect(read.body).toEqual(created.body);
    expect(read.headers.get("ETag")).toBe(created.headers.get("ETag"));
  });

  test("includes the URL of its Rive file if requested", async () => {
    const { _id } = (await create({ contents: [rive] })).as(Overlay);
    const read = (riveUrl: boolean) =>
      site.call("getOverlay", { params: { id: _id }, query: { riveUrl } }).then((response) => response.as(Overlay).contents);
    expect(await read(true)).toMatchObject([{ url: `/media/v1/${rive.mediaId}` }]);
    expect(await read(false)).toEqual([rive]);
  });

  test.for<[field: string, change: Record<string, unknown>]>([
    ["siteId", { siteId: newId(2) }],
    ["name", { name: " " }],
    ["duration", { duration: 0 }],
    ["duration", { duration: 86_401 }],
    ["duration", { duration: 1.5 }],
    ["contents", { contents: [] }],
    ["contents", { contents: Array.from({ length: 9 }, () => html) }],
    ["contents.0.kind", { contents: [{ ...html, kind: "flash" }] }],
    ["contents.0.position", { contents: [{ ...html, position: "left" }] }],
    ["contents.0.html", { contents: [{ ...html, html: "a".repeat(65_537) }] }],
    ["contents.0.surprise", { contents: [{ ...html, surprise: 1 }] }],
    ["contents.0.channels.0", { contents: [{ ...html, channels: ["main-stage"] }] }],
    ["contents.0.url", { contents: [{ ...rive, url: "http://demo.example/goal.riv" }] }],
    [
      "contents.0.variables",
      { contents: [{ ...html, variables: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`v${i}`, i])) }] },
    ],
    ["contents.0.variables.scorer", { contents: [{ ...html, variables: { scorer: ["Ada"] } }] }],
    ["cta.type", { cta: { type: "run_script", data: {} } }],
  ])("rejects an invalid %s %#", async ([field, change]) => {
    expect(await create(change)).toMatchObject({ status: 400, fields: [field] });
  });

  test("is replaced completely, with a new version", async () => {
    const cta = { type: "tweet", data: { text: "Goal!" } };
    const response = await create({ cta });
    const { _id, created } = response.as(Overlay);
    const changed = await site.call("updateOverlay", { params: { id: _id }, body: input({ name: "Own goal" }) });
    expect(changed.as(Overlay)).toMatchObject({ _id, created, name: "Own goal", cta: null });
    expect(changed.headers.get("ETag")).not.toBe(response.headers.get("ETag"));
  });

  test("is neither changed nor deleted if it has changed since it was read", async () => {
    const created = await create();
    const params = { id: created.as(Overlay)._id };
    const headers = { "If-Match": created.headers.get("ETag") ?? "" };
    expect((await site.call("updateOverlay", { params, body: input({ name: "First" }), headers })).status).toBe(200);
    expect((await site.call("updateOverlay", { params, body: input({ name: "Second" }), headers })).problem).toMatchObject({
      status: 412,
      code: "precondition_failed",
    });
    expect((await site.call("deleteOverlay", { params, headers })).status).toBe(412);
    expect((await site.call("updateOverlay", { params, body: input(), headers: { "If-Match": 'W/"v2"' } })).status).toBe(412);
    expect((await site.call("updateOverlay", { params, body: input(), headers: { "If-Match": '"v1", "v2"' } })).status).toBe(200);
    expect((await site.call("deleteOverlay", { params, headers: { "If-Match": "*" } })).status).toBe(200);
  });

  test("keeps one of several concurrent updates, and rejects the others with 409", async () => {
    const params = { id: (await create()).as(Overlay)._id };
    const change = (name: string) => site.call("updateOverlay", { params, body: input({ name }) });
    const responses = await Promise.all(["One", "Two", "Three"].map(change));
    for (const response of responses)
      if (response.status !== 200) expect(response.problem).toMatchObject({ status: 409, code: "conflict" });
    const winners = responses.filter((response) => response.status === 200).map((response) => response.as(Overlay));
    expect(winners.length).toBeGreaterThan(0);
    const read = await site.call("getOverlay", { params });
    expect(read.headers.get("ETag")).toBe(`"v${1 + winners.length}"`);
    expect(winners).toContainEqual(read.as(Overlay));
  });

  test("returns 404 for every operation once deleted", async () => {
    const params = { id: (await create()).as(Overlay)._id };
    expect((await site.call("deleteOverlay", { params })).body).toEqual({ success: true, _id: params.id });
    const calls = [
      await site.call("getOverlay", { params }),
      await site.call("updateOverlay", { params, body: input() }),
      await site.call("deleteOverlay", { params }),
      await site.call("broadcastOverlay", { params, body: {} }),
      await site.call("broadcastOverlayToTag", { params: { ...params, tagId: "team:home" }, body: {} }),
    ];
    for (const response of calls) expect(response.problem).toMatchObject({ status: 404, message: "Overlay Not Found" });
  });
});

describe("listing overlays", () => {
  test("filters by type and by kind of element", async () => {
    const own = await newSite();
    const template = (await create({ name: "Template" }, own)).as(Overlay);
    const ownRive = { ...rive, mediaId: await addFile(own) };
    const instance = (await create({ name: "Instance", type: "instance", contents: [ownRive, html] }, own)).as(Overlay);
    const ids = (query: Record<string, string>) =>
      own.call("listOverlays", { query }).then((response) => response.as(OverlayList).results.map(({ _id }) => _id));
    expect(await ids({ type: "template" })).toEqual([template._id]);
    expect(await ids({ kind: "rive" })).toEqual([instance._id]);
    expect(await ids({ kind: "html", sortBy: "name" })).toEqual([instance._id, template._id]);
    expect(await ids({ type: "template", kind: "rive" })).toEqual([]);
  });
});
