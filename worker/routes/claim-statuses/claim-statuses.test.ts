import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { type Caller, newSite, type TestSite } from "#test/harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { Quest } from "#worker/services/quests/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { ClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const ClaimList = listOf(ClaimStatus);
const texts = { title: "Early bird", description: "Join in", rewardDescription: "A scarf", claimedMessage: "See you there" };
const SKU = "season-pass";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await createDb(siteStore)
    .insert(subscriptions)
    .values({
      ...{ id: newId(Date.now()), siteId: site.id, sku: SKU, name: "Season pass", subscriptionProvider: "external" },
      ...{ prices: [], tags: [], created: 1, modified: 1 },
    });
});

async function newQuest(change: Record<string, unknown> = {}, on = site): Promise<string> {
  const actions = [{ arrayId: "action000", body: "Look at it", kind: "quest:view" }];
  const body = { siteId: on.id, ...texts, rewardType: "prize-service-specific", actions, ...change };
  return (await on.call("createQuest", { body })).as(Quest)._id;
}

const complete = (id: string, as: Caller = "viewer", on = site) =>
  on.call("reportQuestAction", { params: { id, arrayId: "action000" }, as, body: {} });
const claim = (id: string, as: Caller = "viewer", country?: string, on = site) =>
  on.call("claimQuest", { params: { id }, as, ...(country !== undefined && { headers: { "CF-IPCountry": country } }) });

async function claimed(change: Record<string, unknown> = {}, as: Caller = "viewer", country?: string) {
  const id = await newQuest(change);
  await complete(id, as);
  return (await claim(id, as, country)).as(ClaimStatus);
}

const move = (id: string, body: Record<string, unknown>, headers = {}) => site.call("updateClaimStatus", { params: { id }, body, headers });
const list = async (query: Record<string, string>, as: Caller = "developer", on = site) =>
  (await on.call("listClaimStatuses", { query, as })).as(ClaimList).results;
const skusOf = async (as: "viewer" | "creator" | "reader") =>
  (await site.call("getAccount", { params: { id: site.accounts[as].id } })).as(Account).subscriptions;

describe("a claim", () => {
  test("is pending, with an event that carries the quest's webhook settings", async () => {
    const webhook = { webhookId: "shop", webhookType: "order", webhookValue: "scarf-m" };
    const created = await claimed({ rewardType: "webhook", productId: "scarf", ...webhook });
    expect(created).toMatchObject({
      ...{ siteId: site.id, accountId: site.accounts.viewer.id, productId: "scarf", rewardType: "webhook" },
      ...{ status: "PENDING", message: texts.claimedMessage },
    });
    const [event] = (await site.call("listEvents", { query: { types: "quest.claimed" } })).as(EventList).results;
    expect(event).toMatchObject({ resource: `claimstatus/${created._id}`, data: { ...created, ...webhook } });
  });

  test("is rejected until the quest is complete, and for a quest without actions", async () => {
    const id = await newQuest();
    expect((await claim(id)).problem).toMatchObject({ status: 409, message: "The quest is not complete: 0 of 1 actions are done" });
    await complete(id);
    expect((await claim(id, "creator")).status).toBe(409);
    expect((await claim(id)).status).toBe(201);
    expect((await claim(await newQuest({ actions: [] }))).status).toBe(409);
  });

  test("is created once, also in concurrent requests", async () => {
    const id = await newQuest({ rewardType: "prize", productId: SKU });
    await complete(id, "reader");
    const responses = await Promise.all(Array.from({ length: 8 }, () => claim(id, "reader")));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
    expect(await list({ questId: id })).toHaveLength(1);
    expect(await skusOf("reader")).toHaveLength(1);
    expect((await claim(id, "reader")).problem?.message).toBe("The reward of this quest has already been claimed");
  });

  test("is accepted only within the quest's time window", async () => {
    const id = await newQuest();
    await complete(id);
    const now = Math.floor(Date.now() / 1000);
    const put = (window: Record<string, number>) =>
      site.call("replaceQuest", {
        params: { id },
        body: {
          ...{ siteId: site.id, ...texts, rewardType: "prize-service-specific" },
          ...{ actions: [{ arrayId: "action000", body: "Look at it", kind: "quest:view" }], ...window },
        },
      });
    await put({ timeMinimum: now + 600 });
    expect((await claim(id)).problem).toMatchObject({ status: 409, message: "The quest has not started" });
    await put({ timeMaximum: now - 600 });
    expect((await claim(id)).problem).toMatchObject({ status: 409, message: "The quest has ended" });
    await put({ timeMinimum: now - 600, timeMaximum: now + 600 });
    expect((await claim(id)).status).toBe(201);
  });

  test("for a prize that is a sku of the site grants it immediately, once", async () => {
    const own = await claimed({ rewardType: "prize", productId: SKU }, "creator");
    expect(own.status).toBe("SUCCESS");
    expect(await skusOf("creator")).toEqual([SKU]);
    expect((await claimed({ rewardType: "prize", productId: SKU }, "creator")).status).toBe("SUCCESS");
    expect(await skusOf("creator")).toHaveLength(1);
    expect((await claimed({ rewardType: "prize", productId: "scarf" }, "creator")).status).toBe("PENDING");
    expect((await claimed({ rewardType: "prize-service-specific", productId: SKU }, "creator")).status).toBe("PENDING");
  });

  test("from outside the reward's regions is ERROR_REGION, and grants nothing until its status is changed", async () => {
    const reward = { rewardType: "prize", productId: SKU, regions: ["GB", "IE"] };
    for (const country of ["FR", undefined]) {
      const rejected = await claimed(reward, "viewer", country);
      expect(rejected).toMatchObject({ status: "ERROR_REGION", message: "The reward is not available in your region" });
    }
    expect(await skusOf("viewer")).toEqual([]);
    const [first] = await list({ status: "ERROR_REGION" });
    expect((await move(first?._id ?? "", { status: "SUCCESS" })).status).toBe(200);
    expect(await skusOf("viewer")).toEqual([SKU]);
    expect((await claimed(reward, "viewer", "IE")).status).toBe("SUCCESS");
  });
});

describe("updating a claim's status", () => {
  test("emits events, and SUCCESS is final", async () => {
    const { _id: id, message } = await claimed();
    const failed = (await move(id, { status: "ERROR", message: "No such address" })).as(ClaimStatus);
    expect(failed).toMatchObject({ status: "ERROR", message: "No such address" });
    expect((await move(id, { status: "SUCCESS" })).as(ClaimStatus)).toMatchObject({ status: "SUCCESS", message: "No such address" });
    expect((await move(id, { status: "ERROR" })).problem).toMatchObject({
      status: 409,
      message: "A claim can't change from SUCCESS to ERROR",
    });
    expect(message).toBe(texts.claimedMessage);
    const events = (await site.call("listEvents", { query: { types: "claim.updated", limit: 200 } })).as(EventList).results;
    const own = events.filter(({ resource }) => resource === `claimstatus/${id}`);
    expect(own.map(({ data }) => data.status)).toEqual(["ERROR", "SUCCESS"]);
  });

  test("can't set it back to PENDING", async () => {
    const { _id: id } = await claimed();
    expect((await move(id, { status: "PENDING" })).fields).toEqual(["status"]);
  });

  test("succeeds for one of two concurrent requests", async () => {
    const { _id: id } = await claimed();
    const both = await Promise.all(["SUCCESS", "ERROR"].map((status) => move(id, { status }, { "If-Match": '"v1"' })));
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe("claims", () => {
  test("are visible to their owners, and all of them to those who manage the site", async () => {
    const own = await claimed();
    const others = await claimed({}, "creator");
    const ids = async (as: Caller) => (await list({ limit: "200" }, as)).map(({ _id }) => _id);
    for (const as of ["developer", "admin", "reader"] as const)
      expect(await ids(as)).toEqual(expect.arrayContaining([own._id, others._id]));
    expect(await ids("viewer")).toContain(own._id);
    expect(await ids("viewer")).not.toContain(others._id);
    const statusOf = async (id: string, as: Caller) => (await site.call("getClaimStatus", { params: { id }, as })).status;
    expect([await statusOf(own._id, "viewer"), await statusOf(others._id, "viewer"), await statusOf(others._id, "admin")]).toEqual([
      200, 404, 200,
    ]);
  });

  test("can be filtered by any property", async () => {
    const created = await claimed({ productId: "mug", rewardType: "webhook" });
    for (const property of ["_id", "questId", "productId"] as const) {
      expect((await list({ [property]: created[property] ?? "" })).map(({ _id }) => _id)).toEqual([created._id]);
    }
    expect((await list({ accountId: site.accounts.creator.id, limit: "200" })).map(({ _id }) => _id)).not.toContain(created._id);
    expect(await list({ status: "PENDING", rewardType: "webhook", search: "MUG" })).toHaveLength(1);
  });

  test("stay when their quest is deleted, and end when their account is deleted", async () => {
    const own = await newSite();
    const [one, two] = [await newQuest({}, own), await newQuest({}, own)];
    for (const id of [one, two]) {
      await complete(id, "viewer", own);
      await claim(id, "viewer", undefined, own);
    }
    await own.call("deleteQuest", { params: { id: one } });
    await own.call("deleteAccount", { params: { id: own.accounts.viewer.id } });
    const left = await list({}, "developer", own);
    expect(left.map(({ status, message }) => ({ status, message }))).toEqual(Array(2).fill({ status: "ERROR", message: null }));
    const { results } = (await own.call("listEvents", { query: { types: "claim.updated" } })).as(EventList);
    expect(results.map(({ resource, data }) => ({ resource, data }))).toEqual(
      left.toSorted((a, b) => a._id.localeCompare(b._id)).map((claim) => ({ resource: `claimstatus/${claim._id}`, data: claim })),
    );
    const moved = await own.call("updateClaimStatus", { params: { id: left[0]?._id ?? "" }, body: { status: "SUCCESS" } });
    expect(moved.problem).toMatchObject({ status: 409, message: "The account no longer exists" });
  });
});
