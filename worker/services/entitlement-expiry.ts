import { lte, and, eq } from "drizzle-orm";
import { accountEntitlements } from "../../db/schema/index.ts";
import { cameFirst } from "../lib/errors.ts";
import type { Ctx } from "./context.ts";
import { changeEntitlement } from "./entitlements.ts";
import { asSystem } from "./system.ts";

const AT_ONCE = 100;

/** Ends the entitlements whose cancellation was scheduled for a day that has come. Safe to run twice at once. */
export async function expireEntitlements({ env, db, now }: Pick<Ctx, "env" | "db" | "now">): Promise<void> {
  const due = await db
    .select()
    .from(accountEntitlements)
    .where(and(eq(accountEntitlements.status, "cancelScheduled"), lte(accountEntitlements.dateEnds, now)))
    .orderBy(accountEntitlements.dateEnds)
    .limit(AT_ONCE);
  for (const row of due) {
    await asSystem({ env, db, now }, row.siteId, (ctx) => cameFirst(() => changeEntitlement(ctx, row, "expire")));
  }
}
