import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { graphics } from "#db/schema/graphics.ts";
import { FILES, graphicForm, MANIFEST } from "#test/graphics.ts";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { uploadForm } from "#test/uploads.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { folderOf, sweepAbandonedGraphics } from "#worker/services/graphics/graphics.ts";
import { Graphic } from "#worker/services/graphics/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const upload = async (files: Parameters<typeof graphicForm>[0] = FILES, as?: "admin" | "creator" | "viewer") =>
  site.call("uploadGraphic", { body: await graphicForm(files), ...(as && { as }) });

const newGraphic = async () => (await upload()).as(Graphic);

const filesOf = async (id: string) => (await env.MEDIA.list({ prefix: folderOf(id) })).objects.map(({ key }) => key);

function withManifest(changes: Record<string, unknown>): Record<string, string> {
  return { ...FILES, "lower-third.ograf.json": JSON.stringify({ ...MANIFEST, ...changes }) };
}

describe("an uploaded graphic", () => {
  test("has the schema, defaults, actions and size of its manifest", async () => {
    expect(await newGraphic()).toMatchObject({
      name: "Lower third",
      graphicId: "example.lower-third",
      graphicVersion: "3",
      author: "Harbour City TV",
      schema: MANIFEST.schema,
      defaults: { name: "Somebody", color: "#0b5fff" },
      actions: [
        { id: "blink", name: "Blink", description: null, schema: null },
        { id: "tint", schema: { type: "object" } },
      ],
      stepCount: 2,
      width: 1280,
      size: Object.values(FILES).join("").length,
    });
  });

  test("is listed and read by admins and keys of its site, not by creators and viewers", async () => {
    const { _id: id } = await newGraphic();
    expect((await site.call("listGraphics")).as(listOf(Graphic)).results.map(({ _id }) => _id)).toContain(id);
    expect((await site.call("getGraphic", { params: { id }, as: "admin" })).status).toBe(200);
    for (const as of ["creator", "viewer"] as const) {
      expect((await upload(FILES, as)).status, as).toBe(403);
      expect((await site.call("getGraphic", { params: { id }, as })).status, as).toBe(403);
    }
  });

  test("is a 404 for another site", async () => {
    const { _id: id } = await newGraphic();
    const other = await newSite();
    for (const operation of ["getGraphic", "deleteGraphic"]) expect((await other.call(operation, { params: { id } })).status).toBe(404);
    expect((await other.call("listGraphics")).as(listOf(Graphic)).results).toEqual([]);
  });

  test("loses its files when it is deleted", async () => {
    const { _id: id } = await newGraphic();
    expect(await filesOf(id)).toHaveLength(Object.keys(FILES).length + 1);
    expect((await site.call("deleteGraphic", { params: { id } })).status).toBe(200);
    expect(await filesOf(id)).toEqual([]);
    expect((await site.call("getGraphicFrame", { params: { id }, as: "nobody" })).status).toBe(404);
    expect((await site.call("getGraphic", { params: { id } })).status).toBe(404);
  });

  test("is swept with its files if its upload never completed", async () => {
    const { _id: id } = await newGraphic();
    const { _id: complete } = await newGraphic();
    await db.update(graphics).set({ ready: false, created: 1 }).where(eq(graphics.id, id));
    expect((await site.call("getGraphic", { params: { id } })).status).toBe(404);
    await sweepAbandonedGraphics({ env, db, shard: 1, now: Date.now() });
    expect(await filesOf(id)).toEqual([]);
    expect(await db.select().from(graphics).where(eq(graphics.id, id))).toEqual([]);
    expect(await filesOf(complete)).not.toEqual([]);
  });
});

describe("the frame of a graphic", () => {
  test("names the script relative to the manifest, and may load only the graphic's own files", async () => {
    const moved = Object.fromEntries(Object.entries(FILES).map(([path, content]) => [`deep/${path}`, content]));
    const { _id: id } = (await upload(moved)).as(Graphic);
    const { text, headers } = await site.call("getGraphicFrame", { params: { id }, as: "nobody" });
    expect(text).toContain('data-main="deep/scripts/lower-third.mjs"');
    const policy = headers.get("Content-Security-Policy") ?? "";
    const own = `${ORIGIN}/overlay/v1/graphics/${id}/files/`;
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/=]+' /);
    expect(policy).toContain(`connect-src ${own};`);
    expect(policy).toMatch(/; sandbox allow-scripts$/);
    expect(policy).not.toMatch(/script-src[^;]*( https:(?!\/\/tifo\.test)|unsafe)/);
  });

  test("gets files of any depth, with safe types, for frames without an origin", async () => {
    const { _id: id } = (await upload({ ...FILES, "a/b/page.html": "<script>alert(1)</script>", "a/b/x.exe": "MZ" })).as(Graphic);
    const get = (path: string, headers = {}) => site.call("getGraphicFile", { params: { id, path }, headers, as: "nobody" });
    const image = await get("images/crest.svg", { Origin: "null" });
    expect(image.text).toBe(FILES["images/crest.svg"]);
    expect(image.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(image.headers.get("Content-Security-Policy")).toContain("sandbox");
    const types = ["images/crest.svg", "scripts/lower-third.mjs", "a/b/page.html", "a/b/x.exe"].map(async (path) =>
      (await get(path)).headers.get("Content-Type"),
    );
    expect(await Promise.all(types)).toEqual([
      "image/svg+xml",
      "text/javascript; charset=utf-8",
      "text/plain; charset=utf-8",
      "application/octet-stream",
    ]);
    for (const path of ["missing.js", "images", "images/", "frame.json"]) expect((await get(path)).status, path).toBe(404);
  });

  test("isn't a page of its own in a browser", async () => {
    const { _id: id } = await newGraphic();
    const statusFor = async (dest: string) =>
      (await site.call("getGraphicFrame", { params: { id }, headers: { "Sec-Fetch-Dest": dest }, as: "nobody" })).status;
    expect(await statusFor("iframe")).toBe(200);
    expect(await statusFor("document")).toBe(404);
  });

  test("keeps scripts and styles from the deployment's own pages", async () => {
    const { _id: id } = await newGraphic();
    const statusFor = async (path: string, from: string) =>
      (await site.call("getGraphicFile", { params: { id, path }, headers: { "Sec-Fetch-Site": from }, as: "nobody" })).status;
    expect(await statusFor("scripts/lower-third.mjs", "cross-site")).toBe(200);
    expect(await statusFor("scripts/lower-third.mjs", "same-origin")).toBe(404);
    expect(await statusFor("scripts/lower-third.mjs", "same-site")).toBe(404);
    expect(await statusFor("images/crest.svg", "same-origin")).toBe(200);
  });
});

describe("an upload is rejected", () => {
  const { "lower-third.ograf.json": manifest = "", ...rest } = FILES;
  test.each<[string, Parameters<typeof graphicForm>[0], string]>([
    ["without a manifest", rest, "file"],
    ["with two manifests", { ...FILES, "other.ograf.json": manifest }, "file"],
    ["with a manifest that isn't JSON", { ...rest, "a.ograf.json": "{" }, "file"],
    ["with a manifest of more than 64 kB", withManifest({ description: "long ".repeat(13_200) }), "file"],
    ["with an unknown field", withManifest({ editor: 1 }), "file.editor"],
    ["with another version's schema", withManifest({ $schema: "https://ograf.ebu.io/v2" }), "file.$schema"],
    ["with a slash in its id", withManifest({ id: "a/b" }), "file.id"],
    ["with an author without a name", withManifest({ author: { email: "a@b.example" } }), "file.author.name"],
    ["if it doesn't render in real time", withManifest({ supportsRealTime: false }), "file.supportsRealTime"],
    ["without its script", withManifest({ main: "missing.mjs" }), "file.main"],
    ["with a script outside of the archive", withManifest({ main: "../../x.mjs" }), "file.main"],
    ["with a script of another host", withManifest({ main: "https://evil.example/x.mjs" }), "file.main"],
    ["with a script that isn't one", withManifest({ main: "images/crest.svg" }), "file.main"],
    [
      "with two actions of one id",
      withManifest({ customActions: [MANIFEST.customActions[0], MANIFEST.customActions[0]] }),
      "file.customActions",
    ],
    ["with a schema without a type", withManifest({ schema: { properties: {} } }), "file.schema.type"],
    [
      "with a property without a type",
      withManifest({ schema: { type: "object", properties: { a: {} } } }),
      "file.schema.properties.a.type",
    ],
    [
      "with an array without items",
      withManifest({ schema: { type: "object", properties: { a: { type: "array" } } } }),
      "file.schema.properties.a.items",
    ],
    [
      "with a pattern that could take for ever",
      withManifest({ schema: { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } } }),
      "file.schema.properties.a.pattern",
    ],
    [
      "with another pattern for a colour",
      withManifest({ schema: { type: "object", properties: { a: { type: "string", gddType: "color-rrggbb", pattern: "(a+)+$" } } } }),
      "file.schema.properties.a.pattern",
    ],
    [
      "with a default of another type",
      withManifest({ schema: { type: "object", properties: { a: { type: "string", default: 1 } } } }),
      "file.schema.properties.a.default",
    ],
    [
      "with an action whose schema is invalid",
      withManifest({ customActions: [{ id: "a", name: "A", schema: { type: "text" } }] }),
      "file.customActions.0.schema.type",
    ],
  ])("%s", async (_, files, path) => {
    const response = await upload(files);
    expect(response).toMatchObject({ status: 400, body: { issues: [{ path }] } });
    expect(JSON.stringify(response.body).length).toBeLessThan(10_000);
  });

  test("if it isn't an archive", async () => {
    expect((await site.call("uploadGraphic", { body: uploadForm() })).status).toBe(400);
  });
});
