import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { type Buyer, callAs, newBuyer } from "#test/purchases.ts";
import { ClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Quest } from "#worker/services/quests/schemas.ts";
import { MAX_BALANCE, Wallet, WalletTransaction } from "#worker/services/wallets/schemas.ts";

const texts = { title: "Early bird", description: "", rewardDescription: "A scarf", claimedMessage: "See you there" };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function newQuest(change: Record<string, unknown>): Promise<string> {
  const actions = [{ arrayId: "action000", body: "Look at it", kind: "quest:view" }];
  const body = { siteId: site.id, ...texts, rewardType: "prize-service-specific", actions, ...change };
  return (await site.call("createQuest", { body })).as(Quest)._id;
}

/** An account with this balance. */
async function newFan(balance: number): Promise<{ fan: Buyer; walletId: string }> {
  const fan = await newBuyer(site);
  const { _id: walletId } = (await callAs(site, fan, "getWallet")).as(Wallet);
  const body = { transactionId: "start", amount: balance, reason: "Start" };
  if (balance > 0) await site.call("createWalletTransaction", { params: { id: walletId }, body });
  return { fan, walletId };
}

async function claim(fan: Buyer, id: string, country = "GB") {
  await callAs(site, fan, "reportQuestAction", { params: { id, arrayId: "action000" }, body: {} });
  return callAs(site, fan, "claimQuest", { params: { id }, headers: { "CF-IPCountry": country } });
}

const balanceOf = async (fan: Buyer) => (await callAs(site, fan, "getWallet")).as(Wallet).balance;
const move = (id: string, status: string) => site.call("updateClaimStatus", { params: { id }, body: { status } });

async function historyOf(walletId: string) {
  const page = await site.call("listWalletTransactions", { params: { id: walletId } });
  return page.as(listOf(WalletTransaction)).results.map(({ amount, reference }) => ({ amount, reference }));
}

describe("a claim with a cost", () => {
  test("debits the wallet once, however often it is sent", async () => {
    const id = await newQuest({ claimCost: 300 });
    const { fan, walletId } = await newFan(1000);
    await claim(fan, id);
    const statuses = await Promise.all([1, 2, 3, 4].map(async () => (await claim(fan, id)).status));
    expect(statuses).toEqual([409, 409, 409, 409]);
    expect(await balanceOf(fan)).toBe(700);
    expect((await historyOf(walletId)).map(({ amount }) => amount)).toEqual([-300, 1000]);
  });

  test("of more than the balance is a 409 and no claim; the same one succeeds once the balance suffices", async () => {
    const id = await newQuest({ claimCost: 300 });
    const { fan, walletId } = await newFan(299);
    expect((await claim(fan, id)).problem?.code).toBe("insufficient_balance");
    expect(await balanceOf(fan)).toBe(299);
    const body = { transactionId: "more", amount: 1, reason: "More" };
    await site.call("createWalletTransaction", { params: { id: walletId }, body });
    expect((await claim(fan, id)).status).toBe(201);
    expect(await balanceOf(fan)).toBe(0);
  });

  test("isn't accepted without a wallet either", async () => {
    const id = await newQuest({ claimCost: 1 });
    const fan = await newBuyer(site);
    expect((await claim(fan, id)).problem?.code).toBe("insufficient_balance");
  });

  test("of two quests at once, for which the balance suffices once, succeeds once", async () => {
    const ids = [await newQuest({ claimCost: 300 }), await newQuest({ claimCost: 300 })];
    const { fan } = await newFan(300);
    const statuses = await Promise.all(ids.map(async (id) => (await claim(fan, id)).status));
    expect(statuses.sort()).toEqual([201, 409]);
    expect(await balanceOf(fan)).toBe(0);
  });

  test("is refunded once when it fails, and debited again when it succeeds after all", async () => {
    const id = await newQuest({ claimCost: 300 });
    const { fan, walletId } = await newFan(300);
    const claimed = (await claim(fan, id)).as(ClaimStatus);
    const failures = await Promise.all([1, 2, 3].map(async () => (await move(claimed._id, "ERROR")).status));
    expect(failures.filter((status) => status === 200)).toHaveLength(1);
    expect(await balanceOf(fan)).toBe(300);
    await move(claimed._id, "ERROR_REGION");
    expect(await balanceOf(fan)).toBe(300);
    expect((await move(claimed._id, "SUCCESS")).status).toBe(200);
    expect(await balanceOf(fan)).toBe(0);
    const reference = `claim/${claimed._id}`;
    expect(await historyOf(walletId)).toEqual([
      { amount: -300, reference },
      { amount: 300, reference },
      { amount: -300, reference },
      { amount: 300, reference: null },
    ]);
  });

  test("can't succeed after its refund was spent", async () => {
    const id = await newQuest({ claimCost: 300 });
    const { fan, walletId } = await newFan(300);
    const claimed = (await claim(fan, id)).as(ClaimStatus);
    await move(claimed._id, "ERROR");
    const body = { transactionId: "tea", amount: -250, reason: "Tea" };
    await site.call("createWalletTransaction", { params: { id: walletId }, body });
    expect((await move(claimed._id, "SUCCESS")).problem?.code).toBe("insufficient_balance");
    expect((await callAs(site, fan, "getClaimStatus", { params: { id: claimed._id } })).as(ClaimStatus).status).toBe("ERROR");
  });

  test("isn't refunded to a wallet that can't hold it, which is a conflict of its own", async () => {
    const id = await newQuest({ claimCost: 300 });
    const { fan, walletId } = await newFan(300);
    const claimed = (await claim(fan, id)).as(ClaimStatus);
    const body = { transactionId: "jackpot", amount: MAX_BALANCE - 299, reason: "Jackpot" };
    expect((await site.call("createWalletTransaction", { params: { id: walletId }, body })).status).toBe(201);
    const rejected = await move(claimed._id, "ERROR");
    expect(rejected.problem).toMatchObject({ status: 409, code: "conflict" });
    expect(rejected.problem?.message).toContain(`exceed ${MAX_BALANCE}`);
    expect((await callAs(site, fan, "getClaimStatus", { params: { id: claimed._id } })).as(ClaimStatus).status).toBe("PENDING");
    await site.call("createWalletTransaction", { params: { id: walletId }, body: { transactionId: "tea", amount: -1, reason: "Tea" } });
    expect((await move(claimed._id, "ERROR")).status).toBe(200);
    expect(await balanceOf(fan)).toBe(MAX_BALANCE);
  });

  test("costs nothing where the reward isn't available", async () => {
    const id = await newQuest({ claimCost: 300, regions: ["GB"] });
    const { fan } = await newFan(300);
    expect((await claim(fan, id, "FR")).as(ClaimStatus).status).toBe("ERROR_REGION");
    expect(await balanceOf(fan)).toBe(300);
  });

  test("keeps the price that it was claimed for when the quest changes", async () => {
    const id = await newQuest({ claimCost: 100 });
    const { fan } = await newFan(300);
    const claimed = (await claim(fan, id)).as(ClaimStatus);
    const actions = [{ arrayId: "action000", body: "Look at it", kind: "quest:view" }];
    const body = { siteId: site.id, ...texts, rewardType: "prize-service-specific", actions, claimCost: 250 };
    await site.call("replaceQuest", { params: { id }, body });
    await move(claimed._id, "ERROR");
    expect(await balanceOf(fan)).toBe(300);
  });

  test("of a raffle is the price of the ticket: it isn't refunded to those who aren't drawn", async () => {
    const id = await newQuest({ rewardType: "raffle", claimCost: 100 });
    const fans = [await newFan(100), await newFan(100)];
    for (const { fan } of fans) await claim(fan, id);
    await site.call("drawQuestRaffle", { params: { id }, body: { winners: 1 } });
    expect(await Promise.all(fans.map(({ fan }) => balanceOf(fan)))).toEqual([0, 0]);
  });
});

describe("a reward that pays an amount", () => {
  test("is granted with the claim", async () => {
    const id = await newQuest({ rewardType: "prize", rewardAmount: 450, claimCost: 50 });
    const { fan, walletId } = await newFan(50);
    expect((await claim(fan, id)).as(ClaimStatus).status).toBe("SUCCESS");
    expect(await balanceOf(fan)).toBe(450);
    expect((await historyOf(walletId)).map(({ amount }) => amount)).toEqual([450, -50, 50]);
  });

  test("beside a product of the site's systems is paid when these report success", async () => {
    const id = await newQuest({ rewardType: "prize", rewardAmount: 450, productId: "scarf" });
    const { fan } = await newFan(0);
    const claimed = (await claim(fan, id)).as(ClaimStatus);
    expect(claimed.status).toBe("PENDING");
    expect(await balanceOf(fan)).toBe(0);
    await Promise.all([1, 2].map(() => move(claimed._id, "SUCCESS")));
    expect(await balanceOf(fan)).toBe(450);
  });

  test("is only possible for a prize", async () => {
    const body = { siteId: site.id, ...texts, rewardType: "raffle", rewardAmount: 5 };
    expect((await site.call("createQuest", { body })).fields).toEqual(["rewardAmount"]);
  });
});
