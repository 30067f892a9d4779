import { asc, eq } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { outbox } from "#db/schema/events.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { callAs, newBuyer } from "#test/purchases.ts";
import { Wallet } from "./schemas.ts";
import { siteStore } from "#test/site-store.ts";

// Random credits, debits and repeats, some of them at the same time, against a model: whatever was accepted, the balance is its sum, never
// negative, and each transactionId counts once.

const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

interface Entry {
  transactionId: string;
  amount: number;
}

const entry: fc.Arbitrary<Entry> = fc.record({
  // Few, so that they repeat with the same and with another amount.
  transactionId: fc.nat(11).map((number) => `entry-${number}`),
  amount: fc.oneof(fc.constantFrom(-50, -10, -1, 1, 10, 50), fc.integer({ min: -60, max: 60 })).filter((amount) => amount !== 0),
});

/** Requests that are sent at the same time. */
const round = fc.array(entry, { minLength: 1, maxLength: 5 });

async function newWallet(): Promise<string> {
  return (await callAs(site, await newBuyer(site), "getWallet")).as(Wallet)._id;
}

function post(id: string, body: Entry) {
  return site.call("createWalletTransaction", { params: { id }, body: { ...body, reason: "Kiosk" } });
}

test("after any sequence of concurrent requests, the balance is the sum of the transactions, which are those that were accepted", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { maxLength: 6 }), async (rounds) => {
      const id = await newWallet();
      const accepted = new Map<string, number>();
      for (const requests of rounds) {
        const before = [...accepted.values()].reduce((sum, amount) => sum + amount, 0);
        const responses = await Promise.all(requests.map((one) => post(id, one)));
        responses.forEach(({ status, problem }, index) => {
          const { transactionId, amount } = requests[index] ?? { transactionId: "", amount: 0 };
          if (status === 201) {
            expect(accepted.get(transactionId) ?? amount).toBe(amount);
            accepted.set(transactionId, amount);
          } else if (requests.length === 1) {
            const known = accepted.get(transactionId);
            expect(problem?.code).toBe(known === undefined ? "insufficient_balance" : "conflict");
            if (known === undefined) expect(before + amount).toBeLessThan(0);
          } else expect(["insufficient_balance", "conflict"]).toContain(problem?.code);
        });
        await expectBooks(id, accepted);
      }
    }),
    { numRuns: 30, endOnFailure: true },
  );
});

async function expectBooks(id: string, accepted: Map<string, number>): Promise<void> {
  const [[wallet], rows] = await db.batch([
    db.select().from(wallets).where(eq(wallets.id, id)),
    db.select().from(walletTransactions).where(eq(walletTransactions.walletId, id)).orderBy(asc(walletTransactions.entry)),
  ]);
  expect(new Map(rows.map(({ transactionId, amount }) => [transactionId, amount]))).toEqual(accepted);
  expect(rows).toHaveLength(accepted.size);
  let balance = 0;
  for (const row of rows) {
    balance += row.amount;
    expect(row.balance).toBe(balance);
    expect(balance).toBeGreaterThanOrEqual(0);
  }
  expect(wallet?.balance).toBe(balance);
}

test("a debit that fails writes no event", async () => {
  const id = await newWallet();
  const written = () => db.$count(outbox, eq(outbox.type, "wallet.transactionCreated"));
  const log = async () => (await site.call("listEvents", { query: { types: "wallet.transactionCreated" } })).text;
  const before = await log();
  expect((await post(id, { transactionId: "one", amount: -1 })).status).toBe(409);
  expect(await written()).toBe(0);
  expect(await log()).toBe(before);
});
