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
