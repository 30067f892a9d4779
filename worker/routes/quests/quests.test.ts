import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { QUEST_KINDS } from "#db/enums.ts";
import { globalAccounts, sessions } from "#db/schema/accounts.ts";
import { type Caller, waitForViewerCount, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { createPanel } from "#worker/services/panels/panels.ts";
import { deleteQuest } from "#worker/services/quests/quests.ts";
import { signToken } from "#worker/services/auth/tokens.ts";
import { Panel, PanelInput } from "#worker/services/panels/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Quest } from "#worker/services/quests/schemas.ts";
import { directory } from "#test/site-store.ts";

const QuestList = listOf(Quest);
const URL = "https://demo.example/line-up";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const texts = { title: "First half hero", description: "Join in", rewardDescription: "A shirt", claimedMessage: "Well done" };
const viewIt = { arrayId: "a1B2c3D4e", body: "Look at it", kind: "quest:view" };
const bodyOf = (change: Record<string, unknown> = {}, on = site) => ({ siteId: on.id, ...texts, rewardType: "prize", ...change });
const create = (change: Record<string, unknown> = {}, as?: Caller, on = site) =>
  on.call("createQuest", { body: bodyOf(change, on), ...(as && { as }) });
const newQuest = async (change: Record<string, unknown> = {}, on = site) => (await create(change, undefined, on)).as(Quest);
const replace = (id: string, change: Record<string, unknown> = {}, as?: Caller) =>
  site.call("replaceQuest", { params: { id }, body: bodyOf(change), ...(as && { as }) });
const remove = (id: string, as?: Caller) => site.call("deleteQuest", { params: { id }, ...(as && { as }) });
const withAction = (change: Record<string, unknown>) => ({ actions: [{ ...viewIt, ...change }] });
const list = async (query: Record<string, string | number>, on = site) => (await on.call("listQuests", { query })).as(QuestList);
const panelOf = (quest_id: string, on = site) => ({
  siteId: on.id,
  renderer: { panel_type: "quests", panel_name: "Quests", quests: [{ array_id: "a1B2c3D4e", quest_id }] },
});

describe("a quest", () => {
  test("is returned as created, and can be read by its id", async () => {
    const action = {
      ...viewIt,
      callToAction: URL,
      channelId: site.channels[1],
      timeMinimum: 1_795_273_200,
      timeMaximum: 1_795_275_900,
      validationValue: "*",
      valueRequired: 3,
    };
    const fields = {
      rewardImage: "https://demo.example/shirt.png",
      rewardType: "webhook",
      productId: "shirt",
      regions: ["GB"],
      timeMinimum: 1_795_273_200,
      timeMaximum: 1_795_275_900,
      webhookId: "shop",
      webhookType: "order",
      webhookValue: "shirt-l",
      channelIds: site.channels,
      actions: [action],
      tags: ["derby"],
    };
    const response = await create(fields);
    expect(response.as(Quest)).toMatchObject({ siteId: site.id, ...texts, ...fields, raffle: null });
    const read = await site.call("getQuest", { params: { id: response.as(Quest)._id } });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get("ETag")).toBe(response.headers.get("ETag"));
  });

  test("shows its webhook, and what a claim reveals, only to callers who manage it", async () => {
    const internal = { webhookId: "shop", webhookType: "order", webhookValue: "shirt-l", claimedMessage: "Your code: SCARF-10" };
    const hidden = { webhookId: null, webhookType: null, webhookValue: null, claimedMessage: "" };
    const { _id: id } = await newQuest({ ...internal, channelIds: site.channels.slice(0, 1) });
    for (const [as, shown] of [
      ["admin", internal],
      ["creator", internal],
      ["viewer", hidden],
    ] as const) {
      expect((await site.call("getQuest", { params: { id }, as })).as(Quest), as).toMatchObject(shown);
      expect((await site.call("listQuests", { query: { _id: id }, as })).as(QuestList).results, as).toMatchObject([shown]);
    }
  });

  test("requires its texts, its reward and its site only", async () => {
    const response = await site.call("createQuest", { body: {} });
    expect(response.fields.sort()).toEqual(["claimedMessage", "description", "rewardDescription", "rewardType", "siteId", "title"]);
    expect(response.problem).toMatchObject({ status: 400, message: "Invalid quest" });
    expect(await newQuest()).toMatchObject({
      ...{ rewardImage: null, productId: null, regions: [], timeMinimum: null, timeMaximum: null, channelIds: [], actions: [], tags: [] },
      ...{ webhookId: null, webhookType: null, webhookValue: null },
    });
    expect((await newQuest(withAction({}))).actions).toEqual([
      {
        ...viewIt,
        ...{ callToAction: null, channelId: null, timeMinimum: null, timeMaximum: null, validationValue: null, valueRequired: null },
      },
    ]);
    expect((await create({ actions: [{}] })).fields.sort()).toEqual(["actions.0.arrayId", "actions.0.body", "actions.0.kind"]);
  });

  test.for<[field: string, change: Record<string, unknown>]>([
    ["siteId", { siteId: newId(1) }],
    ["title", { title: " " }],
    ["rewardType", { rewardType: "money" }],
    ["regions.0", { regions: ["gb"] }],
    ["timeMinimum", { timeMinimum: 1_795_273_200_000 }],
    ["timeMaximum", { timeMinimum: 10, timeMaximum: 9 }],
    ["channelIds.0", { channelIds: [newId(1)] }],
    ["actions.0.channelId", withAction({ channelId: newId(1) })],
    ["actions.0.arrayId", withAction({ arrayId: "a1B2c3D4" })],
    ["actions.0.arrayId", withAction({ arrayId: "a1B2c3D4e5" })],
    ["actions.0.arrayId", withAction({ arrayId: "a1B2c3D4-" })],
    ["actions", { actions: [viewIt, viewIt] }],
    ["actions.0.kind", withAction({ kind: "answer:polls" })],
    ["actions.0.timeMaximum", withAction({ timeMinimum: 10, timeMaximum: 9 })],
    ["actions.0.valueRequired", withAction({ kind: "retweet", valueRequired: 0 })],
    ["actions.0.valueRequired", withAction({ kind: "retweet", validationValue: "t", valueRequired: 2 })],
    ["actions.0.surprise", withAction({ surprise: 1 })],
  ])("is rejected for an invalid %s %#", async ([field, change]) => {
    const response = await create(change);
    expect(response).toMatchObject({ status: 400, fields: [field] });
    if (field !== "siteId") expect(response.problem?.message).toBe("Invalid quest");
    expect(await replace((await newQuest())._id, change)).toMatchObject({ status: 400, fields: [field] });
  });

  test("can't be on a channel of another site", async () => {
    const foreign = await newSite();
    expect((await create({ channelIds: [foreign.channels[0]] })).fields).toEqual(["channelIds.0"]);
    expect((await replace((await newQuest({}, foreign))._id)).status).toBe(404);
  });
});

const CALLED = [
  "open:link",
  "share:facebook:video",
  "answer:polls:specific",
  "answer:predictions:specific",
  "answer:predictions:specific:correctly",
  "answer:trivia:specific",
  "answer:trivia:specific:correctly",
  "view:panel",
  "watch:specific:video",
];
const BY_ID = CALLED.filter((kind) => kind !== "open:link" && kind !== "share:facebook:video").concat("visit:channel");

describe("a quest action", () => {
  const complete = { callToAction: "Go", timeMinimum: 1, timeMaximum: 2 };

  test.for([...QUEST_KINDS])("of kind %s requires its fields", async (kind) => {
    const fieldsOf = async (change: Record<string, unknown>) => (await create(withAction({ kind, ...change }))).fields.sort();
    const needed = [];
    if (CALLED.includes(kind)) needed.push("actions.0.callToAction");
    if (kind === "visit:time") needed.push("actions.0.timeMaximum", "actions.0.timeMinimum");
    expect(await fieldsOf({})).toEqual(needed);
    expect(await fieldsOf(complete)).toEqual([]);
  });

  test.for(BY_ID)("of kind %s requires an id or an asterisk as validationValue", async (kind) => {
    const fieldsOf = async (validationValue: string) => (await create(withAction({ kind, ...complete, validationValue }))).fields;
    const named = kind === "view:panel" ? "panel" : kind === "visit:channel" ? "channel" : kind.startsWith("watch") ? "video" : "poll";
    expect(await fieldsOf(named === "channel" ? site.channels[0] : await addResource(site, named))).toEqual([]);
    expect(await fieldsOf("*")).toEqual([]);
    for (const wrong of [URL, newId(1), await addResource(await newSite(), named === "channel" ? "page" : named)])
      expect(await fieldsOf(wrong)).toEqual(["actions.0.validationValue"]);
  });

  test("of kind open:link requires a URL or an asterisk as validationValue", async () => {
    const fieldsOf = async (validationValue: string) =>
      (await create(withAction({ kind: "open:link", ...complete, validationValue }))).fields;
    expect(await fieldsOf(URL)).toEqual([]);
    expect(await fieldsOf("*")).toEqual([]);
    expect(await fieldsOf("javascript:alert(1)")).toEqual(["actions.0.validationValue"]);
    expect(await fieldsOf(newId(1))).toEqual(["actions.0.validationValue"]);
  });
});

describe("a creator", () => {
  test("can create quests for their channel, but not for others or the whole site", async () => {
    const [own, other] = site.channels;
    expect((await create({ channelIds: [own] }, "creator")).status).toBe(201);
    const rejected = { status: 400, code: "channel_admin_required", message: "User must be channel admin for this channel" };
    for (const channelIds of [[other], [own, other], []]) expect((await create({ channelIds }, "creator")).problem).toMatchObject(rejected);
  });

  test("can replace a quest, whereas a viewer's PUT is a 400 with the documented message, whatever the body", async () => {
    const mine = await newQuest({ channelIds: [site.channels[0]] });
    const rejected = { status: 400, code: "channel_admin_required", message: "User must be channel admin for this channel" };
    expect((await replace(mine._id, {}, "viewer")).problem).toMatchObject(rejected);
    expect((await site.call("replaceQuest", { params: { id: mine._id }, body: { title: 1 }, as: "viewer" })).problem).toMatchObject(
      rejected,
    );
    expect((await site.call("getQuest", { params: { id: mine._id } })).as(Quest)).toEqual(mine);
    expect((await create({ channelIds: [site.channels[0]] }, "viewer")).status).toBe(403);
  });

  test("can replace and delete a quest only as admin of all its old and new channels", async () => {
    const [own, other] = site.channels;
    const shared = await newQuest({ channelIds: [own, other] });
    const mine = await newQuest({ channelIds: [own] });
    const rejected = { status: 400, message: "User must be channel admin for this channel" };
    expect((await replace(shared._id, { channelIds: [own] }, "creator")).problem).toMatchObject(rejected);
    expect((await replace(mine._id, { channelIds: [own, other] }, "creator")).problem).toMatchObject(rejected);
    expect((await remove(shared._id, "creator")).problem).toMatchObject(rejected);
    expect((await replace(mine._id, { channelIds: [own], title: "Mine" }, "creator")).as(Quest).title).toBe("Mine");
    expect((await remove(mine._id, "creator")).status).toBe(200);
  });
});

test("a global sign-in has no account on the site", async () => {
  const [id, sessionId] = [newId(Date.now()), newId(Date.now())];
  await directory.batch([
    directory.insert(globalAccounts).values({ id, email: `${id}@demo.example`, passwordHash: "", created: 1, modified: 1 }),
    directory
      .insert(sessions)
      .values({ id: sessionId, audience: "global", accountId: id, generation: 1, created: 1, expires: Date.now() + 60_000 }),
  ]);
  const token = await signToken(env, { accountId: id, audience: "global", sessionId, passwordVersion: 1 }, Date.now());
  const response = await site.call("listQuests", { headers: { Authorization: `Bearer ${token}` } });
  expect(response.problem).toMatchObject({ status: 401, code: "no_account", message: "No account found" });
});

describe("updating a quest", () => {
  test("replaces it, for only one of two updates of the same version", async () => {
    const response = await create({ tags: ["derby"], ...withAction({}) });
    const { _id: id } = response.as(Quest);
    const headers = { "If-Match": response.headers.get("ETag") ?? "" };
    const both = await Promise.all(
      ["One", "Two"].map((title) => site.call("replaceQuest", { params: { id }, body: bodyOf({ title }), headers })),
    );
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(both.map(({ status }) => status).every((status) => [200, 409, 412].includes(status))).toBe(true);
    expect((await site.call("getQuest", { params: { id } })).as(Quest)).toMatchObject({ tags: [], actions: [] });
  });

  test("to a raffle creates one, which another reward hides but doesn't delete", async () => {
    const { _id: id, raffle: none } = await newQuest();
    expect(none).toBeNull();
    const { raffle } = (await replace(id, { rewardType: "raffle" })).as(Quest);
    expect(raffle).toMatchObject({ seed: null, drawnAt: null, winners: null });
    expect(raffle?.commitment).toMatch(/^[0-9a-f]{64}$/);
    expect((await replace(id)).as(Quest).raffle).toBeNull();
    expect((await replace(id, { rewardType: "raffle" })).as(Quest).raffle).toEqual(raffle);
  });

  test("is logged, and notifies the viewers of its channels or of the site", async () => {
    const own = await newSite();
    const [here, there] = [await openSocket(own, own.channels[0]), await openSocket(own, own.channels[1])];
    await waitForViewerCount(own, 2);
    const [action] = withAction({ validationValue: "*" }).actions;
    const quest = await newQuest({ channelIds: [own.channels[0]], webhookId: "shop", webhookValue: "shirt-l", actions: [action] }, own);
    const { data } = await here.first("quest.updated");
    expect(data).toMatchObject({ _id: quest._id, deleted: false, actions: [{ arrayId: quest.actions[0]?.arrayId }] });
    expect(JSON.stringify(data)).not.toMatch(/webhook|validationValue|claimedMessage/);
    await own.call("deleteQuest", { params: { id: quest._id } });
    const everywhere = await newQuest({ title: "For everybody" }, own);
    expect((await there.first("quest.updated")).data).toMatchObject({ _id: everywhere._id });
    const gone = await here.when((frame) => frame.type === "quest.updated" && frame.data.deleted === true);
    expect(gone).toMatchObject({ data: { _id: quest._id } });
    const { results: events } = (await own.call("listEvents", {})).as(EventList);
    expect(events.map(({ type }) => type)).toEqual(["quest.created", "quest.deleted", "quest.created"]);
    expect(events[0]).toMatchObject({ resource: `quest/${quest._id}`, data: { ...quest } });
  });
});

describe("a panel of quests", () => {
  test("rejects quests that the site doesn't have", async () => {
    const { _id: own } = await newQuest();
    const { _id: foreign } = await newQuest({}, await newSite());
    for (const id of [foreign, newId(1)]) {
      expect(await site.call("createPanel", { body: panelOf(id) })).toMatchObject({ status: 400, fields: ["renderer.quests.0.quest_id"] });
    }
    const panel = (await site.call("createPanel", { body: panelOf(own) })).as(Panel);
    const changed = await site.call("replacePanel", { params: { id: panel._id }, body: panelOf(foreign) });
    expect(changed).toMatchObject({ status: 400, fields: ["renderer.quests.0.quest_id"] });
  });

  test("prevents its quests from being deleted", async () => {
    const { _id: id } = await newQuest();
    const { _id: panel } = (await site.call("createPanel", { body: panelOf(id) })).as(Panel);
    expect((await remove(id)).problem).toMatchObject({ status: 409, issues: [{ path: `panels.${panel}`, message: "Quests" }] });
    await site.call("deletePanel", { params: { id: panel } });
    expect((await remove(id)).status).toBe(200);
    expect((await site.call("getQuest", { params: { id } })).status).toBe(404);
  });

  test("prevents a concurrent deletion of its quest, or is rejected if the quest is deleted first", async () => {
    const { _id: id } = await newQuest();
    const showing = interruptedContext(site, () => site.call("createPanel", { body: panelOf(id) }));
    await expect(deleteQuest(showing, id)).rejects.toThrow("Panels show this quest; remove it from them first");
    const { _id: fleeting } = await newQuest();
    const { siteId, renderer } = PanelInput.parse(panelOf(fleeting));
    const deleting = interruptedContext(site, () => remove(fleeting));
    await expect(createPanel(deleting, { siteId, renderer })).rejects.toMatchObject({
      code: "invalid_request",
      issues: [{ path: "renderer.quests.0.quest_id" }],
    });
  });

  test("and the deletion of its quest can't both succeed", async () => {
    for (let round = 0; round < 5; round++) {
      const { _id: id } = await newQuest();
      const [panel, quest] = await Promise.all([site.call("createPanel", { body: panelOf(id) }), remove(id)]);
      expect([`${panel.status} ${quest.status}`]).toEqual([expect.stringMatching(/^(201 409|400 200)$/)]);
    }
  });
});

describe("the list of quests", () => {
  test("can be searched, sorted, paginated and filtered by any property", async () => {
    const own = await newSite();
    const [first, second, third] = [
      await newQuest({ title: "Anthem", channelIds: [own.channels[0]], tags: ["derby"] }, own),
      await newQuest({ title: "Corner", description: "Count the corners", rewardType: "raffle", productId: "scarf" }, own),
      await newQuest({ title: "Boots", webhookId: "shop", timeMinimum: 5 }, own),
    ];
    const titles = async (query: Record<string, string | number>) => (await list(query, own)).results.map(({ title }) => title);
    expect(await titles({})).toEqual(["Boots", "Corner", "Anthem"]);
    expect(await titles({ sortBy: "title" })).toEqual(["Anthem", "Boots", "Corner"]);
    expect(await titles({ sortBy: "created", sortDirection: -1, limit: 1, offset: 1 })).toEqual(["Corner"]);
    expect(await titles({ search: "CORNERS" })).toEqual(["Corner"]);
    for (const [property, value, quest] of [
      ["_id", first._id, first],
      ["title", "Anthem", first],
      ["channelIds", own.channels[0], first],
      ["tags", "derby", first],
      ["description", "Count the corners", second],
      ["rewardType", "raffle", second],
      ["productId", "scarf", second],
      ["webhookId", "shop", third],
      ["timeMinimum", 5, third],
      ["created", third.created, third],
    ] as const) {
      const found = (await list({ [property]: value }, own)).results.map(({ _id }) => _id);
      expect(found, property).toContain(quest._id);
      if (property !== "created") expect(found, property).toHaveLength(1);
    }
    expect((await own.call("listQuests", { query: { siteId: site.id } })).fields).toEqual(["siteId"]);
  });

  test("is filtered by what it withholds only for callers who may read that", async () => {
    const internal = { webhookId: "only-here", webhookType: "order-here" };
    const { _id: id } = await newQuest({ ...internal, channelIds: site.channels.slice(0, 1) });
    const elsewhere = await newQuest({ ...internal, channelIds: site.channels.slice(1, 2) });
    const siteWide = await newQuest(internal);
    const all = [siteWide._id, elsewhere._id, id];
    for (const [property, value] of Object.entries(internal))
      for (const [as, expected] of [
        ["admin", all],
        ["creator", [id]],
        ["viewer", []],
      ] as const) {
        const { results, pagination } = (await site.call("listQuests", { query: { [property]: value }, as })).as(QuestList);
        expect(results.map(({ _id }) => _id).sort(), as).toEqual([...expected].sort());
        expect(pagination.totalCount, as).toBe(expected.length);
      }
  });
});
