import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { directoryDb, PLACED_MS, shardDatabase, shardDb } from "#db/databases.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { siteMoves } from "#db/schema/databases/site-moves.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { type Buyer, chargeRow, heldSkus, newPurchase, refundedAtStripe, refundRows } from "#test/purchases.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { chargeEvent } from "#worker/services/billing/charges.ts";
import { reconcileBilling } from "#worker/services/billing/reconcile.ts";
import { commit } from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { continueMove } from "#worker/services/site-moves/steps.ts";
import { finish, finishUntil, start } from "./moves.ts";

// While a site moves, a database has rows of it that aren't the site: a copy that isn't complete, or what is left.

const MINUTE = 60_000;
const [FROM, TO] = [2, 1];

let site: TestSite;
let buyer: Buyer;
let chargeId: string;

beforeEach(async () => {
  site = await newSite();
  ({ buyer, chargeId } = await newPurchase(site));
});

/** Deletes in one of the databases what the site's buyer has bought, past the triggers of the move. */
async function forgetEntitlements(shard: number): Promise<void> {
  const database = shardDatabase(env, shard);
  await database.batch([
    database.prepare("update site_move_pass set open = 1"),
    database.prepare("delete from account_entitlements where site_id = ?1").bind(site.id),
    database.prepare("update site_move_pass set open = 0"),
  ]);
}

/** Copies the site except for what its buyer has bought, as at a moment between two tables. */
async function copyWithoutEntitlements(): Promise<void> {
  expect((await start(site, TO)).status).toBe(202);
  const [move] = await directoryDb(env).select().from(siteMoves).where(eq(siteMoves.siteId, site.id));
  // Too early to switch.
  const early = (move?.started ?? 0) + PLACED_MS - 1;
  const copied = () => shardDb(env, TO).$count(accountEntitlements, eq(accountEntitlements.siteId, site.id));
  while ((await copied()) === 0) await continueMove(env, site.id, () => early);
  await forgetEntitlements(TO);
}

/** The cron's work with Stripe over one of the databases, when the purchase is due. */
const reconcile = (shard: number) => reconcileBilling({ env, db: shardDb(env, shard), shard, now: Date.now() + MINUTE });

test("a payment isn't refunded because what it bought isn't in the copy yet, and stays paid after the move", async () => {
  await copyWithoutEntitlements();
  await reconcile(TO);
  expect(refundedAtStripe(chargeId)).toBe(0);
  // The copy lacks what the test has deleted, which the move notices.
  expect(await finish(site.id)).toBe("cancelled");
  await start(site, TO);
  expect(await finish(site.id)).toBe("complete");
  await reconcile(TO);
  expect([refundedAtStripe(chargeId), await shardDb(env, TO).$count(charges, eq(charges.siteId, site.id))]).toEqual([0, 1]);
});

test("nor because it isn't any more in what is left where the site was", async () => {
  await start(site, TO);
  await finishUntil(site.id, "switched");
  await forgetEntitlements(FROM);
  await reconcile(FROM);
  expect([refundedAtStripe(chargeId), await finish(site.id)]).toEqual([0, "complete"]);
});

test("what emits an event can't be written to a copy, so that nobody believes it was", async () => {
  await copyWithoutEntitlements();
  const by = { env, db: shardDb(env, TO), now: Date.now() };
  const change = by.db.delete(charges).where(and(eq(charges.id, chargeId), eq(charges.siteId, site.id)));
  const event = chargeEvent("chargeDeclined", await chargeRow(chargeId));
  await expect(asSystem(by, site.id, (ctx) => commit(ctx, change, event))).rejects.toThrow();
  expect(await by.db.$count(charges, eq(charges.id, chargeId))).toBe(1);
  // The whole cron runs over the copy without a failure.
  await runScheduled(env, Date.now() + MINUTE);
  expect([await finish(site.id), await refundRows(chargeId), (await heldSkus(buyer)).length]).toEqual(["cancelled", [], 1]);
});
