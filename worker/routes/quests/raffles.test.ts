import { createHash, createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Caller, newSite, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { ClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { claimQuest } from "#worker/services/claim-statuses/claims.ts";
import { drawRaffle } from "#worker/services/quests/raffles.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Quest, RaffleResult } from "#worker/services/quests/schemas.ts";

const ClaimList = listOf(ClaimStatus);
const texts = { title: "Shirt raffle", description: "Join in", rewardDescription: "A shirt", claimedMessage: "You are in the draw" };
const PEOPLE = ["viewer", "creator", "reader", "admin"] as const;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function newRaffle(change: Record<string, unknown> = {}): Promise<Quest> {
  const action = { arrayId: "action000", body: "Look at it", kind: "quest:view" };
  const body = { siteId: site.id, ...texts, rewardType: "raffle", actions: [action], ...change };
  return (await site.call("createQuest", { body })).as(Quest);
}
type Quest = ReturnType<(typeof Quest)["parse"]>;

async function enter(id: string, as: Caller) {
  await site.call("reportQuestAction", { params: { id, arrayId: "action000" }, as, body: {} });
  return site.call("claimQuest", { params: { id }, as });
}
const draw = (id: string, winners = 1, as: Caller = "developer") => site.call("drawQuestRaffle", { params: { id }, body: { winners }, as });
const claimsOf = async (questId: string) => {
  const response = await site.call("listClaimStatuses", { query: { questId, sortBy: "created" } });
  return response.as(ClaimList).results;
};

describe("a raffle", () => {
  test("can be verified by anyone from its seed, which was fixed before the first entry", async () => {
    const { _id: id, raffle } = await newRaffle();
    for (const as of PEOPLE)
      expect((await enter(id, as)).as(ClaimStatus)).toMatchObject({ status: "PENDING", message: texts.claimedMessage });
    const result = (await draw(id, 2)).as(RaffleResult);
    expect(result.commitment).toBe(raffle?.commitment);
    expect(createHash("sha256").update(result.seed).digest("hex")).toBe(result.commitment);
    const claims = await claimsOf(id);
    expect(result.entrants).toEqual(claims.map(({ _id }) => _id).sort());
    const rank = (claimId: string) => createHmac("sha256", result.seed).update(claimId).digest("hex");
    const order = result.entrants.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
    expect(result.winners.map(({ claimId }) => claimId)).toEqual(order.slice(0, 2));
    for (const { claimId, accountId } of result.winners) expect(claims.find(({ _id }) => _id === claimId)?.accountId).toBe(accountId);
    for (const { _id, status, message } of claims) {
      const won = order.indexOf(_id) < 2;
      expect({ status, message }).toEqual(
        won ? { status: "SUCCESS", message: texts.claimedMessage } : { status: "ERROR", message: "Other entries were drawn" },
      );
    }
    const shown = (await site.call("getQuest", { params: { id }, as: "viewer" })).as(Quest).raffle;
    expect(shown).toMatchObject({
      commitment: result.commitment,
      seed: result.seed,
      winners: order.slice(0, 2),
      algorithm: result.algorithm,
    });
    const events = (await site.call("listEvents", { query: { types: "raffle.drawn" } })).as(EventList).results;
    expect(events).toMatchObject([
      { resource: `quest/${id}`, data: { questId: id, winners: result.winners, seed: result.seed, entrants: 4 } },
    ]);
  });

  test("is drawn once, however many requests draw it", async () => {
    const { _id: id } = await newRaffle();
    for (const as of PEOPLE) await enter(id, as);
    const all = await Promise.all([1, 2, 3, 1].map((winners) => draw(id, winners)));
    const [first, ...others] = all.map((response) => response.as(RaffleResult));
    for (const other of others) expect(other).toEqual(first);
    expect((await draw(id, 4)).body).toEqual(first);
    const won = (await claimsOf(id)).filter(({ status }) => status === "SUCCESS");
    expect(won.map(({ _id }) => _id).sort()).toEqual(first?.winners.map(({ claimId }) => claimId).sort());
  });

  test("retries the draw if an entry arrives between its read and its write", async () => {
    const { _id: id } = await newRaffle();
    await enter(id, "creator");
    const { entrants, winners } = await drawRaffle(
      interruptedContext(site, () => enter(id, "viewer")),
      id,
      5,
    );
    expect([entrants.length, winners.length]).toEqual([2, 2]);
    expect((await claimsOf(id)).map(({ status }) => status)).toEqual(["SUCCESS", "SUCCESS"]);
  });

  test("rejects an entry that starts before the draw and ends after it", async () => {
    const { _id: id } = await newRaffle();
    await site.call("reportQuestAction", { params: { id, arrayId: "action000" }, as: "viewer", body: {} });
    const ctx = { ...interruptedContext(site, () => draw(id)), claimedAccountId: site.accounts.viewer.id };
    await expect(claimQuest(ctx, id, undefined)).rejects.toMatchObject({ code: "conflict" });
    expect(await claimsOf(id)).toEqual([]);
  });

  test("leaves no entry pending that arrives during the draw", async () => {
    for (let round = 0; round < 5; round++) {
      const { _id: id } = await newRaffle();
      await enter(id, "creator");
      const [entered, drawn] = await Promise.all([enter(id, "viewer"), draw(id, 5)]);
      const { entrants } = drawn.as(RaffleResult);
      const claims = await claimsOf(id);
      expect(claims.map(({ _id }) => _id).sort()).toEqual([...entrants].sort());
      expect(claims.every(({ status }) => status === "SUCCESS")).toBe(true);
      expect(entered.status).toBe(entrants.length === 2 ? 201 : 409);
    }
  });

  test("accepts no entries once it is drawn", async () => {
    const { _id: id } = await newRaffle();
    expect((await draw(id)).as(RaffleResult)).toMatchObject({ winners: [], entrants: [] });
    expect((await enter(id, "viewer")).problem).toMatchObject({ status: 409, message: "The raffle has been drawn" });
  });

  test("skips entries that were closed, and doesn't allow winners to be set manually", async () => {
    const { _id: id } = await newRaffle();
    const ended = (await enter(id, "viewer")).as(ClaimStatus);
    const valid = (await enter(id, "creator")).as(ClaimStatus);
    const move = (claimId: string, status: string) => site.call("updateClaimStatus", { params: { id: claimId }, body: { status } });
    expect((await move(valid._id, "SUCCESS")).problem).toMatchObject({ status: 409, message: "Only the draw decides who wins a raffle" });
    await move(ended._id, "ERROR");
    const result = (await draw(id, 5)).as(RaffleResult);
    expect(result.entrants).toEqual([valid._id]);
    expect((await draw(id, 5)).body).toEqual(result);
    expect((await move(ended._id, "SUCCESS")).status).toBe(409);
  });

  test("can be drawn by admins of its channels, and only if the reward is a raffle", async () => {
    const [own, other] = site.channels;
    expect((await draw((await newRaffle({ channelIds: [own] }))._id, 1, "creator")).status).toBe(200);
    expect((await draw((await newRaffle({ channelIds: [other] }))._id, 1, "creator")).problem).toMatchObject({
      code: "channel_admin_required",
    });
    const { _id: prize } = await newRaffle({ rewardType: "prize" });
    expect((await draw(prize)).problem).toMatchObject({ status: 409, message: "The quest's reward is not a raffle" });
  });

  test("keeps its seed secret until it is drawn", async () => {
    const { _id: id, raffle } = await newRaffle();
    const { seed } = (await draw(id)).as(RaffleResult);
    expect(raffle).toMatchObject({ seed: null, winners: null, drawnAt: null });
    const before = (await site.call("listEvents", { query: { types: "quest.created", limit: 200 } })).text;
    expect(before).not.toContain(seed);
  });

  test("returns the same response to a repeated request", async () => {
    const { _id: id } = await newRaffle();
    await enter(id, "viewer");
    const headers = { "Idempotency-Key": `draw-${id}` };
    const call = () => site.call("drawQuestRaffle", { params: { id }, body: { winners: 1 }, headers });
    const first = await call();
    expect((await call()).body).toEqual(first.body);
  });
});
