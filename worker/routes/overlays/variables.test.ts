import { beforeAll, describe, expect, test } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { addFile } from "#test/files-and-skus.ts";
import { addResource } from "#test/resources.ts";
import { newId } from "#worker/lib/ids.ts";
import { BroadcastAnswer, Overlay } from "#worker/services/overlays/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await addFile(site, rive.mediaId);
});

const html = { kind: "html", html: "<b>{{scorer}}</b> {{{minute}}} {{ scorer }}", position: "center" };
const rive = { kind: "rive", mediaId: newId(1), fileName: "goal.riv", position: "center" };

function create(change: Record<string, unknown>) {
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 60, contents: [html], ...change };
  return site.call("createOverlay", { body });
}

async function send(contents: unknown[], body: Record<string, unknown>) {
  const { _id } = (await create({ contents })).as(Overlay);
  return site.call("broadcastOverlay", { params: { id: _id }, body: { channelId: site.channels[0], ...body } });
}

describe("the variables of a broadcast", () => {
  test.for<[name: string, contents: unknown[], variables: Record<string, unknown> | undefined, wrong: string[]]>([
    ["every variable in the html", [html], { scorer: "Ada", minute: 17 }, []],
    ["one that the html doesn't use", [html], { scorer: "Ada", minute: 17, score: "1:0" }, ["variables.score"]],
    ["all but one that the html uses", [html], { scorer: "Ada" }, ["variables.minute"]],
    ["none", [html], undefined, ["variables.scorer", "variables.minute"]],
    ["none, with defaults in the overlay", [{ ...html, variables: { scorer: "-", minute: 0 } }], undefined, []],
    [
      "one with another type than its default",
      [{ ...html, variables: { scorer: "-", minute: 0 } }],
      { minute: "17" },
      ["variables.minute"],
    ],
    ["one that only the second element uses", [html, { ...html, html: "{{club}}" }], { scorer: "Ada", minute: 1 }, ["variables.club"]],
    ["any name with a Rive file", [rive], { anything: true }, []],
    ["a Rive file's own with another type", [{ ...rive, variables: { own: true } }], { own: "yes" }, ["variables.own"]],
    ["the name of an Object.prototype property", [{ ...html, html: "Goal" }], { constructor: "x" }, ["variables.constructor"]],
  ])("are checked: %s", async ([, contents, variables, wrong]) => {
    const response = await send(contents, { variables });
    expect(response.fields.sort()).toEqual(wrong.sort());
    expect(response.status).toBe(wrong.length > 0 ? 400 : 200);
  });

  test("are also checked for a broadcast to a tag", async () => {
    const { _id } = (await create({})).as(Overlay);
    const call = { params: { id: _id, tagId: "team:home" }, body: { channelId: site.channels[0], variables: { scorer: "Ada" } } };
    expect(await site.call("broadcastOverlayToTag", call)).toMatchObject({ status: 400, fields: ["variables.minute"] });
  });
});

test("a broadcast that exceeds 128 kB with its variables filled in is rejected, however short its html is", async () => {
  const long = "x".repeat(10_000);
  const many = [{ ...html, html: "{{a}}".repeat(13_000) }];
  expect(await send(many, { variables: { a: long } })).toMatchObject({ status: 400, fields: ["variables"] });
  expect(await send(many, { variables: { a: "x" } })).toMatchObject({ status: 200 });
  const contents = [
    { ...html, html: "{{a}}".repeat(5) },
    { ...html, html: "{{a}}".repeat(5) },
  ];
  expect(await send(contents, { variables: { a: long } })).toMatchObject({ status: 200 });
  expect(await send(contents, { variables: { a: "…".repeat(5_000) } })).toMatchObject({ status: 400, fields: ["variables"] });
});

test("a broadcast payload reaches the viewers unchanged", async () => {
  const channelId = await site.addChannel("payloads");
  const viewer = await openSocket(site, channelId);
  const broadcastPayload = { camera: { angle: 3 }, tags: ["replay", null] };
  const sent = await send([{ ...html, html: "Replay" }], { channelId, broadcastPayload });
  expect(sent.as(BroadcastAnswer).broadcasts).toHaveLength(1);
  expect(await viewer.first("overlay.show")).toMatchObject({ broadcastPayload });
  expect(await send([html], { broadcastPayload: ["replay"] })).toMatchObject({ status: 400, fields: ["broadcastPayload"] });
});

describe("a call to action", () => {
  const url = "https://demo.example/replay";
  test.for<[type: string, data: Record<string, unknown>]>([
    ["facebook_share", { url, quote: "What a goal" }],
    ["go_to_channel", { channelId: newId(1) }],
    ["login", { message: "Sign in to vote" }],
    ["open_link", { url, label: "Watch it again" }],
    ["play_video", { videoId: newId(1), startTime: 12.5 }],
    ["show_player_stats", { playerId: "p-9" }],
    ["show_group", { groupId: "group-c" }],
    ["show_panel", { panelId: newId(1) }],
    ["show_stored_panel", { panelId: newId(1) }],
    ["show_person", { personId: "coach" }],
    ["tweet", { text: "Goal!", url }],
  ])("%s accepts its own data", async ([type, data]) => {
    if (typeof data.channelId === "string") await addResource(site, "channel", data.channelId);
    if (typeof data.videoId === "string") await addResource(site, "video", data.videoId);
    if (typeof data.panelId === "string") await addResource(site, "panel", data.panelId);
    expect((await create({ cta: { type, data } })).as(Overlay).cta).toEqual({ type, data });
  });

  test.for<[type: string, data: Record<string, unknown>, field: string]>([
    ["facebook_share", {}, "cta.data.url"],
    ["go_to_channel", { channelId: "main-stage" }, "cta.data.channelId"],
    ["login", { message: 1 }, "cta.data.message"],
    ["open_link", { url: "javascript:alert(1)" }, "cta.data.url"],
    ["open_link", { url, surprise: 1 }, "cta.data.surprise"],
    ["play_video", { videoId: newId(1), startTime: -1 }, "cta.data.startTime"],
    ["show_player_stats", {}, "cta.data.playerId"],
    ["show_group", { playerId: "p-9", groupId: "c" }, "cta.data.playerId"],
    ["show_panel", {}, "cta.data.panelId"],
    ["show_stored_panel", { panelId: "lineup" }, "cta.data.panelId"],
    ["show_person", { personId: "" }, "cta.data.personId"],
    ["tweet", { text: "a".repeat(281) }, "cta.data.text"],
  ])("%s rejects %j", async ([type, data, field]) => {
    expect(await create({ cta: { type, data } })).toMatchObject({ status: 400, fields: [field] });
  });
});
