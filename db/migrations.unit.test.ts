import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import initial from "./migrations/0000_initial.sql?raw";
import connectedAccounts from "./migrations/0003_connected-accounts.sql?raw";

test("the migration to connected accounts keeps an id that only one site's settings name, unsynced with Stripe", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(initial);
  const insert = database.prepare(
    "insert into sites (id, slug, name, collections, regions, settings, style, features, shards, tags, device_limit, created, modified) values (?, ?, 'Club', '[]', '{}', ?, '{}', '{}', '[]', '[]', 3, 0, 0)",
  );
  const named = { own: "acct_own", first: "acct_shared", second: "acct_shared", none: undefined };
  for (const [id, stripeAccount] of Object.entries(named)) {
    const billing = stripeAccount === undefined ? {} : { billing: { stripeAccount } };
    insert.run(id, id, JSON.stringify({ security: { allowedOrigins: [] }, ...billing }));
  }
  database.exec(connectedAccounts);
  const kept = database
    .prepare("select site_id, stripe_account, charges_enabled, synced, length(id) as digits from connected_accounts")
    .all();
  expect(kept).toEqual([{ site_id: "own", stripe_account: "acct_own", charges_enabled: 0, synced: null, digits: 24 }]);
  const settings = database.prepare("select distinct settings from sites").all();
  expect(settings).toEqual([{ settings: '{"security":{"allowedOrigins":[]}}' }]);
});

test("the migration to a ledger gives each balance an opening transaction, so that it is the sum of its wallet's transactions", () => {
  const database = new DatabaseSync(":memory:");
  const folder = join(import.meta.dirname, "migrations");
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const isLedger = (name: string): boolean => name.includes("wallet-ledger");
  const migrate = (name: string): void => database.exec(readFileSync(join(folder, name), "utf8"));
  files.slice(0, files.findIndex(isLedger)).forEach(migrate);
  const insert = database.prepare(
    "insert into wallets (id, site_id, owner_id, owner_type, balance, created, modified, version) values (?, 'site', ?, 'account', ?, 5, 1795166400000, 7)",
  );
  for (const [id, balance] of [
    ["rich", 500],
    ["debtor", -40],
    ["empty", 0],
  ] as const)
    insert.run(id, id, balance);
  files.slice(files.findIndex(isLedger)).forEach(migrate);
  const rows = database
    .prepare("select wallet_id, transaction_id, entry, amount, balance, length(id) as digits from wallet_transactions order by amount")
    .all();
  const opening = { transaction_id: "tifo/opening", entry: 7, digits: 24 };
  expect(rows).toEqual([
    { wallet_id: "debtor", amount: -40, balance: -40, ...opening },
    { wallet_id: "rich", amount: 500, balance: 500, ...opening },
  ]);
});
