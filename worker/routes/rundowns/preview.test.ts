import { beforeAll, describe, expect, test } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { rundownsOf } from "#test/rundowns.ts";
import { newId } from "#worker/lib/ids.ts";
import { Rundown, RundownPreview } from "#worker/services/rundowns/schemas.ts";

let site: TestSite;
const { note, goal, newRundown, tryTake, take, asRun, onAir } = rundownsOf(() => site);

beforeAll(async () => {
  site = await newSite();
});

const preview = (id: string, body: Record<string, unknown> = {}, on = site) =>
  on.call("previewRundownItem", { as: "admin", params: { id }, body });

describe("the preview of an item", () => {
  test("is what viewers get when it is taken, and sends nothing", async () => {
    const rundown = await newRundown([note(), await goal({ broadcast: { duration: 7, variables: { scorer: "A <b>" }, priority: 3 } })]);
    const { itemId, overlay } = (await preview(rundown._id)).as(RundownPreview);
    expect([itemId, await onAir(), await asRun(rundown._id)]).toEqual([rundown.items[1]?._id, [], []]);
    const viewer = await openSocket(site, site.channels[0]);
    const { _id } = await take(rundown._id);
    const shown = await viewer.when((frame) => frame.type === "overlay.show" && frame.broadcastId === _id);
    const { contents, position, variables, priority, overlayId } = overlay ?? {};
    expect(shown).toMatchObject({ contents, position, variables, priority, overlayId });
    expect(contents).toMatchObject([{ html: "<b>Goal!</b> A &lt;b&gt;" }]);
    expect((overlay?.endsAt ?? 0) - (overlay?.startsAt ?? 0)).toBe(7_000);
  });

  test("takes variables that the operator gives, and rejects what a take would reject", async () => {
    const rundown = await newRundown([await goal(), note()]);
    const itemId = rundown.items[0]?._id;
    const given = (await preview(rundown._id, { itemId, variables: { scorer: "Ruth" } })).as(RundownPreview);
    expect(given.overlay?.contents).toMatchObject([{ html: "<b>Goal!</b> Ruth" }]);
    const wrong = { itemId, variables: { scorer: 17 } };
    const [previewed, taken] = [await preview(rundown._id, wrong), await tryTake(rundown._id, wrong)];
    expect([previewed.status, previewed.fields]).toEqual([400, taken.fields]);
    expect((await preview(rundown._id, { itemId: rundown.items[1]?._id })).as(RundownPreview).overlay).toBeNull();
  });

  test("is for those who may see the rundown, also if they only read", async () => {
    const rundown = await newRundown();
    const params = { id: rundown._id };
    expect((await site.call("previewRundownItem", { as: "reader", params, body: {} })).status).toBe(200);
    expect((await site.call("previewRundownItem", { as: "viewer", params, body: {} })).status).toBe(403);
    const other = await newSite();
    expect((await preview(rundown._id, {}, other)).status).toBe(404);
    expect((await site.call("previewRundownItem", { as: "creator", params, body: {} })).status).toBe(200);
    const body = { channelId: site.channels[1], name: "Backstage", items: [note()] };
    const { _id } = (await site.call("createRundown", { body })).as(Rundown);
    expect((await site.call("previewRundownItem", { as: "creator", params: { id: _id }, body: {} })).status).toBe(403);
  });

  test("names an item that there is not, and variables that it can't have, as a take does", async () => {
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`own${index}`, index]));
    const rundown = await newRundown([note(), await goal({ broadcast: { variables: many } })]);
    const [noteId, goalId] = rundown.items.map(({ _id }) => _id);
    for (const [body, field] of [
      [{ itemId: newId(1) }, "itemId"],
      [{ itemId: noteId, variables: { scorer: "Ada" } }, "variables"],
      [{ itemId: goalId, variables: { scorer: "Ada", minute: 17 } }, "variables"],
    ] as const) {
      expect((await preview(rundown._id, body)).fields).toEqual([field]);
      expect((await tryTake(rundown._id, body)).fields).toEqual([field]);
    }
    const arm = await site.call("patchRundown", { params: { id: rundown._id }, body: { armedItemId: newId(1) } });
    expect(arm.fields).toEqual(["armedItemId"]);
    const short = await newRundown([note()]);
    expect([(await preview(short._id)).status, (await tryTake(short._id)).status]).toEqual([404, 409]);
  });
});
