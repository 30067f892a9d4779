import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { type Buyer, callAs, newBuyer } from "#test/purchases.ts";
import { newId } from "#worker/lib/ids.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Wallet, WalletTransaction } from "#worker/services/wallets/schemas.ts";

const TransactionList = listOf(WalletTransaction);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function newWallet() {
  const buyer = await newBuyer(site);
  const { _id: id } = (await callAs(site, buyer, "getWallet")).as(Wallet);
  return { buyer, id };
}

let counter = 0;
const post = (id: string, amount: number, fields: Record<string, unknown> = {}) =>
  site.call("createWalletTransaction", {
    params: { id },
    body: { transactionId: `entry-${++counter}`, amount, reason: "Kiosk", ...fields },
  });

async function historyOf(id: string, query: Record<string, string> = {}) {
  return (await site.call("listWalletTransactions", { params: { id }, query })).as(TransactionList);
}

const balanceOf = async (buyer: Buyer) => (await callAs(site, buyer, "getWallet")).as(Wallet).balance;

describe("a transaction", () => {
  test("changes the balance by its amount, and is an event of the wallet in the same commit", async () => {
    const { buyer, id } = await newWallet();
    const credit = (await post(id, 500, { reference: "vote 11" })).as(WalletTransaction);
    expect(credit).toMatchObject({ walletId: id, amount: 500, balance: 500, reason: "Kiosk", reference: "vote 11" });
    expect(credit.createdBy).toMatch(/^developer:/);
    expect((await post(id, -200)).as(WalletTransaction).balance).toBe(300);
    expect(await balanceOf(buyer)).toBe(300);
    const { results } = (await site.call("listEvents", { query: { types: "wallet.transactionCreated" } })).as(EventList);
    const own = results.filter(({ resource }) => resource === `wallet/${id}`);
    expect(own.map(({ data }) => data.amount)).toEqual([500, -200]);
    expect(own[0]?.data).toEqual({ ...credit });
  });

  test("is applied once by its transactionId, also when repeated after the balance was spent", async () => {
    const { buyer, id } = await newWallet();
    await post(id, 100);
    const fields = { transactionId: "tea-1" };
    const first = (await post(id, -100, fields)).as(WalletTransaction);
    const repeats = await Promise.all([1, 2, 3].map(() => post(id, -100, fields)));
    expect(repeats.map((response) => response.as(WalletTransaction))).toEqual([first, first, first]);
    for (const other of [{ amount: -90 }, { reason: "Coffee" }, { reference: "kiosk 2" }]) {
      const rejected = await post(id, other.amount ?? -100, { ...fields, ...other });
      expect([rejected.status, rejected.problem?.code]).toEqual([409, "conflict"]);
    }
    expect(await balanceOf(buyer)).toBe(0);
  });

  test("of the same transactionId in another wallet is another transaction", async () => {
    const [one, other] = [await newWallet(), await newWallet()];
    for (const { id } of [one, other]) expect((await post(id, 70, { transactionId: "bonus" })).status).toBe(201);
    expect([await balanceOf(one.buyer), await balanceOf(other.buyer)]).toEqual([70, 70]);
  });

  test("that debits more than the balance is a 409, and nothing is written", async () => {
    const { buyer, id } = await newWallet();
    await post(id, 99);
    const rejected = await post(id, -100);
    expect([rejected.status, rejected.problem?.code]).toEqual([409, "insufficient_balance"]);
    expect(await balanceOf(buyer)).toBe(99);
    expect((await historyOf(id)).results).toHaveLength(1);
  });

  test("can't take the balance above its maximum", async () => {
    const { id } = await newWallet();
    await post(id, 99_999_999);
    expect((await post(id, 1)).problem?.code).toBe("conflict");
  });

  test("needs a wallet of the site", async () => {
    const other = await newSite();
    const { id } = await newWallet();
    const body = { transactionId: "one", amount: 1, reason: "Kiosk" };
    expect((await other.call("createWalletTransaction", { params: { id }, body })).status).toBe(404);
    expect((await other.call("listWalletTransactions", { params: { id } })).status).toBe(404);
    expect((await post(newId(Date.now()), 5)).status).toBe(404);
  });

  test.each([
    ["amount", { amount: 0 }],
    ["amount", { amount: 1.5 }],
    ["amount", { amount: 100_000_000 }],
    ["transactionId", { transactionId: "tifo/opening" }],
    ["reason", { reason: " " }],
    ["balance", { balance: 5 }],
  ])("with an invalid %s is rejected", async (field, change) => {
    const { id } = await newWallet();
    expect((await post(id, 5, change)).fields).toEqual([field]);
  });

  test("can't be created by a key without the role, or by an account", async () => {
    const { buyer, id } = await newWallet();
    const headers = { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": await site.addKey(["wallet:read"]) };
    const options = { params: { id }, body: { transactionId: "one", amount: 1, reason: "Kiosk" } };
    expect((await site.call("createWalletTransaction", { ...options, as: "nobody", headers })).status).toBe(403);
    expect((await callAs(site, buyer, "createWalletTransaction", options)).status).toBe(403);
    expect((await site.call("createWalletTransaction", { ...options, as: "admin" })).status).toBe(403);
  });
});

describe("of 200 concurrent debits of 1", () => {
  test("exactly as many succeed as the balance allows", async () => {
    const { buyer, id } = await newWallet();
    await post(id, 100);
    const responses = await Promise.all(Array.from({ length: 200 }, () => post(id, -1)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(100);
    expect(new Set(responses.filter(({ status }) => status !== 201).map(({ problem }) => problem?.code))).toEqual(
      new Set(["insufficient_balance"]),
    );
    expect(await balanceOf(buyer)).toBe(0);
    const balances = (await historyOf(id, { limit: "200" })).results.map(({ balance }) => balance);
    expect(balances).toEqual([...Array(101).keys()]);
  });
});

describe("the history", () => {
  test("is paged by cursor, newest first, and its sum is the balance", async () => {
    const { buyer, id } = await newWallet();
    for (const amount of [100, -20, 30, -5, 1]) await post(id, amount);
    const amounts: number[] = [];
    let query: Record<string, string> = { limit: "2" };
    for (let page = await historyOf(id, query); ; page = await historyOf(id, query)) {
      amounts.push(...page.results.map(({ amount }) => amount));
      if (page.pagination.next === null) break;
      query = Object.fromEntries(new URL(page.pagination.next, "https://tifo.test").searchParams);
    }
    expect(amounts).toEqual([1, -5, 30, -20, 100]);
    expect(await balanceOf(buyer)).toBe(106);
  });

  test("can be read by the owner, without who created its transactions, and by admins; others get a 401", async () => {
    const { buyer, id } = await newWallet();
    await post(id, 500);
    const own = (await callAs(site, buyer, "listWalletTransactions", { params: { id } })).as(TransactionList);
    expect(own.results).toMatchObject([{ amount: 500, createdBy: null }]);
    const read = (await site.call("listWalletTransactions", { as: "reader", params: { id } })).as(TransactionList);
    expect(read.results[0]?.createdBy).toMatch(/^developer:/);
    const stranger = await newBuyer(site);
    expect((await callAs(site, stranger, "listWalletTransactions", { params: { id } })).status).toBe(401);
    expect((await site.call("listWalletTransactions", { as: "creator", params: { id } })).status).toBe(401);
  });

  test("starts with the balance that the operator inserted a wallet with", async () => {
    const { id: ownerId } = await newBuyer(site);
    const body = { siteId: site.id, ownerId, ownerType: "account", balance: -40 };
    const { _id: id } = (await site.call("insertWallet", { body })).as(Wallet);
    expect((await historyOf(id)).results).toMatchObject([{ transactionId: "tifo/opening", amount: -40, balance: -40, createdBy: "super" }]);
    expect((await post(id, -1)).problem?.code).toBe("insufficient_balance");
    expect((await post(id, 30)).as(WalletTransaction).balance).toBe(-10);
  });

  test("is deleted with its account", async () => {
    const { buyer, id } = await newWallet();
    await post(id, 500);
    await site.call("deleteAccount", { params: { id: buyer.id } });
    expect((await site.call("listWalletTransactions", { params: { id } })).status).toBe(404);
    expect((await post(id, 5)).status).toBe(404);
  });
});

describe("the wallet of an account", () => {
  test("can be found by its account, and is created for one that has none", async () => {
    const buyer = await newBuyer(site);
    const found = (await site.call("getWalletOfAccount", { params: { accountId: buyer.id } })).as(Wallet);
    expect((await callAs(site, buyer, "getWallet")).as(Wallet)).toEqual(found);
    const other = await newSite();
    expect((await other.call("getWalletOfAccount", { params: { accountId: buyer.id } })).status).toBe(404);
    expect((await callAs(site, buyer, "getWalletOfAccount", { params: { accountId: buyer.id } })).status).toBe(403);
  });
});
