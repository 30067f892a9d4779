import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { uploadForm, PNG } from "#test/uploads.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { runEffects } from "#worker/services/event-catalogue/effects.ts";
import { deleteMedia, sweepOrphans } from "#worker/services/media/media.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Media } from "#worker/services/media/schemas.ts";

const HOUR = 3_600_000;
const RIVE = "RIVE\x07\0";
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const MediaList = listOf(Media);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function upload(form = uploadForm(), on = site) {
  return (await on.call("uploadMedia", { body: form })).as(Media);
}

/** Requests a file as a browser would, from a page on another origin. */
function get(id: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return exports.default.fetch(`${ORIGIN}/media/v1/${id}`, { method, headers: { Origin: "https://elsewhere.example", ...headers } });
}

describe("an upload", () => {
  test("is typed by its bytes, whatever type the client declares", async () => {
    const created = await site.call("uploadMedia", { body: uploadForm(PNG, "page.html", "text/html") });
    const file = created.as(Media);
    expect(file).toMatchObject({ siteId: site.id, fileName: "page.html", kind: "image", contentType: "image/png", size: PNG.length });
    expect(file.url).toBe(`/media/v1/${file._id}`);
    expect(created.log.d1.roundTrips).toBeLessThanOrEqual(3);
  });

  test.for([
    ["the empty file", ""],
    ["an HTML page", "<!doctype html><script>alert(1)</script>"],
    ["an executable", "MZ\x90\0"],
  ])("of %s is rejected by its bytes", async ([, content = ""]) => {
    expect(await site.call("uploadMedia", { body: uploadForm(content) })).toMatchObject({ status: 400, fields: ["file"] });
  });

  test.for([
    ["a raster image", "\x89PNG\r\n\x1a\n", 10],
    ["an SVG", "<svg>", 1],
    ["captions", "WEBVTT\n", 2],
    ["an animation", RIVE, 25],
  ] as const)("of %s can be as large as its type allows, and no larger", async ([, beginning, megabytes]) => {
    const content = new Uint8Array(megabytes * 1024 * 1024 + 1);
    content.set(Buffer.from(beginning, "latin1"));
    const most = await site.call("uploadMedia", { body: uploadForm(content.subarray(0, -1)) });
    expect(most.as(Media).size).toBe(megabytes * 1024 * 1024);
    expect(await site.call("uploadMedia", { body: uploadForm(content) })).toMatchObject({
      status: 413,
      problem: { code: "payload_too_large" },
    });
  });

  test("accepts a form with exactly one file and nothing else", async () => {
    const none = new FormData();
    none.set("title", "Scarf");
    const text = new FormData();
    text.set("file", "scarf");
    const two = uploadForm();
    two.append("file", new File([PNG], "second.png"));
    const more = uploadForm();
    more.set("surprise", "1");
    for (const [body, field] of [
      [none, "file"],
      [text, "file"],
      [two, "file"],
      [more, "surprise"],
    ] as const) {
      const response = await site.call("uploadMedia", { body });
      expect(response.status, response.text).toBe(400);
      expect(response.fields).toContain(field);
    }
    expect((await site.call("uploadMedia", { body: { file: "scarf" } })).status).toBe(415);
    const broken = { "Content-Type": "multipart/form-data; boundary=a" };
    expect((await site.call("uploadMedia", { body: { file: "scarf" }, headers: broken })).status).toBe(400);
  });

  test("keeps the last segment of the file name, without control characters", async () => {
    expect((await upload(uploadForm(PNG, "../../pictures\\scarf\u0007.png"))).fileName).toBe("scarf.png");
    expect((await upload(uploadForm(PNG, "a".repeat(300)))).fileName).toBe("a".repeat(200));
  });

  test("with an Idempotency-Key is stored once, and only for the same file", async () => {
    const headers = { "Idempotency-Key": "scarf-1" };
    const first = await site.call("uploadMedia", { body: uploadForm(), headers });
    const again = await site.call("uploadMedia", { body: uploadForm(), headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(new Uint8Array(await (await get(first.as(Media)._id)).arrayBuffer())).toEqual(PNG);
    const other = PNG.slice();
    other[other.length - 1] = 0xff;
    expect(await site.call("uploadMedia", { body: uploadForm(other), headers })).toMatchObject({
      status: 409,
      problem: { code: "idempotency_mismatch" },
    });
  });

  test("is accepted from a creator, and rejected from a viewer before anything is stored", async () => {
    const stored = async () => (await env.MEDIA.list()).objects.length;
    expect((await site.call("uploadMedia", { body: uploadForm(), as: "creator" })).status).toBe(201);
    const before = await stored();
    expect((await site.call("uploadMedia", { body: uploadForm(), as: "viewer" })).status).toBe(403);
    expect(await stored()).toBe(before);
  });
});

describe("a file", () => {
  test("is served to anyone, from any origin, cacheable indefinitely and unable to execute", async () => {
    const { _id } = await upload();
    const response = await get(_id);
    expect(response.status).toBe(200);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(PNG);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(PNG.length),
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
      "accept-ranges": "bytes",
    });
    expect(response.headers.has("Content-Disposition")).toBe(false);
  });

  test("that is an SVG can be embedded, and is downloaded when opened directly", async () => {
    const response = await get((await upload(uploadForm(SVG, "crest.svg")))._id);
    expect(await response.text()).toBe(SVG);
    expect(response.headers.get("Content-Type")).toBe("image/svg+xml");
    expect(response.headers.get("Content-Disposition")).toBe("attachment");
    expect(response.headers.get("Content-Security-Policy")).toBe("default-src 'none'; sandbox");
  });

  test("is not sent again to a client that has the current version", async () => {
    const { _id } = await upload();
    const first = await get(_id);
    await first.arrayBuffer();
    const again = await get(_id, { "If-None-Match": first.headers.get("ETag") ?? "" });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await get(_id, { "If-None-Match": first.headers.get("ETag") ?? "" }, "HEAD")).status).toBe(304);
    const stale = await get(_id, { "If-None-Match": '"another"' });
    expect([stale.status, (await stale.arrayBuffer()).byteLength]).toEqual([200, PNG.length]);
  });

  test("reports its size without its bytes for a HEAD request", async () => {
    const { _id } = await upload();
    const response = await get(_id, {}, "HEAD");
    expect([response.status, response.headers.get("Content-Length"), await response.text()]).toEqual([200, String(PNG.length), ""]);
  });

  test.for([
    ["bytes=0-7", "0-7"],
    ["bytes=60-", `60-${PNG.length - 1}`],
    ["bytes=-4", `${PNG.length - 4}-${PNG.length - 1}`],
  ])("returns the requested part for %s", async ([range = "", part = ""]) => {
    const response = await get((await upload())._id, { Range: range });
    const [first = 0, last = 0] = part.split("-").map(Number);
    expect([response.status, response.headers.get("Content-Range")]).toEqual([206, `bytes ${part}/${PNG.length}`]);
    expect(response.headers.get("Access-Control-Expose-Headers")).toContain("Content-Range");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(PNG.slice(first, last + 1));
  });

  test("reports its size when a range is beyond its end", async () => {
    const response = await get((await upload())._id, { Range: "bytes=1000-" });
    expect([response.status, response.headers.get("Content-Range")]).toEqual([416, `bytes */${PNG.length}`]);
    expect(await response.json()).toMatchObject({ code: "range_not_satisfiable" });
  });

  test("is sent whole if If-Range doesn't match", async () => {
    const response = await get((await upload())._id, { Range: "bytes=0-7", "If-Range": '"another"' });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, PNG.length]);
  });

  test("is returned as the operation declares", async () => {
    expect((await site.call("getMedia", { params: { id: (await upload())._id } })).status).toBe(200);
  });

  test("with an unknown id returns a 404", async () => {
    expect((await site.call("getMedia", { params: { id: newId(1) } })).status).toBe(404);
    expect((await get(newId(1), {}, "HEAD")).status).toBe(404);
  });
});

describe("the list of files", () => {
  test("contains the site's own files, filtered by kind and name", async () => {
    const own = await newSite();
    const scarf = await upload(uploadForm(PNG, "Scarf.png"), own);
    const goal = await upload(uploadForm(RIVE, "goal.riv"), own);
    const list = async (query = {}) => (await own.call("listMedia", { query, as: "creator" })).as(MediaList).results;
    expect((await list()).map((file) => file._id)).toEqual([goal._id, scarf._id].sort().reverse());
    expect(await list({ kind: "rive" })).toEqual([goal]);
    expect(await list({ search: "scarf" })).toEqual([scarf]);
    expect((await list({ sortBy: "size" })).map((file) => file._id)).toEqual([goal._id, scarf._id]);
  });
});

describe("deleting a file", () => {
  test("removes it for everyone, and logs an event", async () => {
    const own = await newSite();
    const { _id } = await upload(uploadForm(), own);
    expect((await own.call("deleteMedia", { params: { id: _id } })).status).toBe(200);
    expect((await get(_id)).status).toBe(404);
    expect(await env.MEDIA.head(_id)).toBeNull();
    expect((await own.call("listMedia")).as(MediaList).results).toEqual([]);
    const log = (await own.call("listEvents")).as(EventList).results;
    expect(log.map(({ type, resource }) => [type, resource])).toEqual([
      ["media.created", `media/${_id}`],
      ["media.deleted", `media/${_id}`],
    ]);
  });

  test("is completed by the event log if the request failed before the bytes were deleted", async () => {
    const { _id } = await upload();
    const entry = { sequence: 1, previousSequence: null, id: newId(1), type: "media.deleted", resource: `media/${_id}` };
    await runEffects(env, site.id, { ...entry, data: "{}", actor: "system", requestId: "test", origin: null, created: 1 });
    expect(await env.MEDIA.head(_id)).toBeNull();
  });

  test("is rejected while something uses the file, and names it", async () => {
    const own = await newSite();
    const { _id, url } = await upload(uploadForm(RIVE, "goal.riv"), own);
    const remove = () => own.call("deleteMedia", { params: { id: _id } });
    const content = { kind: "rive", mediaId: _id, fileName: "goal.riv" };
    const overlay = { siteId: own.id, name: "Goal", description: "", type: "template", duration: 8, contents: [content] };
    const users = [
      ["Overlay", overlay],
      ["Page", { type: "landing", slug: "home", data: { name: "Home", artwork: { hero: url } } }],
      ["CalendarEvent", { titleRaw: "Derby", date: { startTimestamp: 1 }, image: { src: url } }],
    ] as const;
    for (const [what, body] of users) {
      const { _id: id } = Media.pick({ _id: true }).parse((await own.call(`create${what}`, { body })).body);
      const rejected = await remove();
      expect([rejected.status, rejected.problem?.message], what).toEqual([409, expect.stringContaining(id)]);
      await own.call(`delete${what}`, { params: { id } });
    }
    expect((await remove()).status).toBe(200);
  });

  test.for([
    ["quest", "createQuest", "rewardImage", { description: "", rewardDescription: "A shirt", rewardType: "prize", claimedMessage: "" }],
    ["bundle", "createBundle", "image", { sku: "cup", price: 100, presentmentCurrency: "gbp", items: [{ type: "shopify", id: "1" }] }],
  ] as const)("is rejected for the image of a %s", async ([area, operation, field, rest]) => {
    const { _id, url } = await upload();
    const names = area === "quest" ? { siteId: site.id, title: "Cup" } : { name: "Cup" };
    expect((await site.call(operation, { body: { ...names, ...rest, [field]: url } })).status).toBe(201);
    const rejected = await site.call("deleteMedia", { params: { id: _id } });
    expect(rejected.status).toBe(409);
    expect(rejected.problem?.message).toMatch(`Still in use by ${area}/`);
  });

  test("is rejected if something starts to use the file concurrently", async () => {
    const own = await newSite();
    const { _id, url } = await upload(uploadForm(), own);
    const body = { type: "landing", slug: "home", data: { name: "Home", artwork: { hero: url } } };
    const show = () => own.call("createPage", { body });
    await expect(deleteMedia(interruptedContext(own, show), _id)).rejects.toMatchObject({ code: "conflict" });
    expect((await get(_id)).status).toBe(200);
  });

  test("requires a site admin, not a creator", async () => {
    const { _id } = await upload();
    expect((await site.call("deleteMedia", { params: { id: _id }, as: "creator" })).status).toBe(403);
  });

  test("succeeds once for two concurrent requests", async () => {
    const { _id } = await upload();
    const statuses = await Promise.all([1, 2].map(async () => (await site.call("deleteMedia", { params: { id: _id } })).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });
});

describe("the sweep of orphaned files", () => {
  // In the future, so that everything the tests upload is old enough.
  const fullHour = Math.ceil(Date.now() / HOUR) * HOUR + HOUR;
  const sweep = (now: number) => sweepOrphans({ env, now });
  const isThere = async (id: string) => (await env.MEDIA.head(id)) !== null;

  test("deletes only files without a row, once they are old enough", async () => {
    const { _id: kept } = await upload();
    const [old, fresh] = [newId(Date.now()), newId(fullHour - 14 * 60_000)];
    for (const id of [old, fresh]) await env.MEDIA.put(id, PNG);
    await sweep(fullHour);
    expect(await Promise.all([old, fresh, kept].map(isThere))).toEqual([false, true, true]);
    await env.MEDIA.delete(fresh);
  });

  test("runs once an hour", async () => {
    const old = newId(Date.now());
    await env.MEDIA.put(old, PNG);
    await sweep(fullHour + 60_000);
    expect(await isThere(old)).toBe(true);
    await sweep(fullHour + 59_999);
    expect(await isThere(old)).toBe(false);
  });
});
