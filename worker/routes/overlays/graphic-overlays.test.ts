import { beforeAll, describe, expect, test } from "vitest";
import { FILES, graphicForm, MANIFEST } from "#test/graphics.ts";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { Graphic } from "#worker/services/graphics/schemas.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";

let site: TestSite;
let graphic: string;

beforeAll(async () => {
  site = await newSite();
  graphic = await newGraphic();
});

async function newGraphic(on = site): Promise<string> {
  return (await on.call("uploadGraphic", { body: await graphicForm() })).as(Graphic)._id;
}

const create = (content: object = {}) => {
  const contents = [{ kind: "ograf", graphic, ...content }];
  const body = { siteId: site.id, name: "Lower third", description: "", type: "template", duration: 60, contents };
  return site.call("createOverlay", { body });
};

const broadcast = (id: string, fields: object = {}) =>
  site.call("broadcastOverlay", { params: { id }, body: { channelId: site.channels[0], ...fields } });

describe("an overlay with a graphic", () => {
  test("is returned as it was saved, with its defaults", async () => {
    const { _id: id, contents } = (await create({ variables: { role: "Coach" } })).as(Overlay);
    expect(contents).toEqual([{ kind: "ograf", graphic, position: "bottomRight", variables: { role: "Coach" } }]);
    expect((await site.call("getOverlay", { params: { id } })).as(Overlay).contents).toEqual(contents);
    expect((await site.call("deleteGraphic", { params: { id: graphic } })).status).toBe(409);
  });

  test.each<[string, () => Promise<object> | object, string]>([
    ["an unknown graphic", () => ({ graphic: "0".repeat(24) }), "contents.0.graphic"],
    ["another site's graphic", async () => ({ graphic: await newGraphic(await newSite()) }), "contents.0.graphic"],
    ["an unknown property", () => ({ variables: { surname: "Moreno" } }), "contents.0.variables.surname"],
    ["a value of another type", () => ({ variables: { seconds: "5" } }), "contents.0.variables.seconds"],
    ["a value out of bounds", () => ({ variables: { name: "a".repeat(61) } }), "contents.0.variables.name"],
    ["a colour of another form", () => ({ variables: { color: "red" } }), "contents.0.variables.color"],
    ["a list of other values", () => ({ variables: { lines: ["a", 1] } }), "contents.0.variables.lines.1"],
  ])("is rejected with %s", async (_, content, path) => {
    expect(await create(await content())).toMatchObject({ status: 400, body: { issues: [{ path }] } });
  });

  test("is broadcast with its defaults, its own data, the broadcast's and its actions", async () => {
    const { _id: id } = (await create({ variables: { role: "Coach", lines: ["a"] } })).as(Overlay);
    const viewer = await openSocket(site, site.channels[0]);
    const actions = [
      { type: "custom", id: "tint", payload: { color: "red" } },
      { type: "play", goto: 1 },
    ];
    expect((await broadcast(id, { variables: { name: "Mira" }, actions })).status).toBe(200);
    const frame = await viewer.first("overlay.show");
    expect(frame).toMatchObject({
      contents: [
        {
          kind: "ograf",
          graphic,
          key: id,
          width: 1280,
          data: { name: "Mira", role: "Coach", color: "#0b5fff", lines: ["a"] },
          actions,
          position: "bottomRight",
        },
      ],
    });
  });

  test.each<[string, object, string]>([
    ["an unknown variable", { variables: { surname: "x" } }, "variables.surname"],
    ["a variable of another type", { variables: { name: 7 } }, "variables.name"],
    ["a variable that is too long", { variables: { name: "a".repeat(61) } }, "variables.name"],
    ["an unknown action", { actions: [{ type: "custom", id: "explode" }] }, "actions.0.id"],
    ["an action without its payload", { actions: [{ type: "custom", id: "tint" }] }, "actions.0.payload.color"],
  ])("isn't broadcast with %s", async (_, fields, path) => {
    const { _id: id } = (await create()).as(Overlay);
    expect(await broadcast(id, fields)).toMatchObject({ status: 400, body: { issues: [{ path }] } });
  });
});

test("the actions of a broadcast share one budget for checking their payloads", async () => {
  const schema = { type: "object", properties: { list: { type: "array", uniqueItems: true, items: { type: "number" } } } };
  const manifest = JSON.stringify({ ...MANIFEST, customActions: [{ id: "sort", name: "Sort", schema }] });
  const body = await graphicForm({ ...FILES, "lower-third.ograf.json": manifest });
  const { _id: id } = (await create({ graphic: (await site.call("uploadGraphic", { body })).as(Graphic)._id })).as(Overlay);
  const action = { type: "custom", id: "sort", payload: { list: Array.from({ length: 400 }, (_, index) => index) } };
  expect((await broadcast(id, { actions: [action] })).status).toBe(200);
  const response = await broadcast(id, { actions: Array.from({ length: 20 }, () => action) });
  expect(response.status).toBe(400);
  expect(response.text).toContain("too many steps");
});

test("an overlay without a graphic has no actions to perform", async () => {
  const contents = [{ kind: "html", html: "<b>Goal</b>", position: "center" }];
  const body = { siteId: site.id, name: "Goal", description: "", type: "template", duration: 60, contents };
  const { _id: id } = (await site.call("createOverlay", { body })).as(Overlay);
  expect(await broadcast(id, { actions: [{ type: "stop" }] })).toMatchObject({ status: 400, body: { issues: [{ path: "actions" }] } });
});
