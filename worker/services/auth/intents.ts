import { and, eq, gt, isNull, lt } from "drizzle-orm";
import { accounts, type IntentRow, intents } from "#db/schema/accounts.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { wonRace, notFound } from "#worker/lib/errors.ts";
import type { ConsumedIntent } from "./schemas.ts";
import { newSession } from "./auth.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { redeemInvite } from "#worker/services/invites/invites.ts";
import { redeemPartnerIntent } from "./partner-intents.ts";
import { rejectIfTotpEnabled } from "./totp.ts";
import type { Redemption } from "./intent-rows.ts";

const INVALID_INTENT = "The intent is unknown, expired or already used";

const REDEEM: Record<IntentRow["kind"], (ctx: Ctx, intent: IntentRow) => Promise<Redemption>> = {
  partner: (ctx, intent) => redeemPartnerIntent(ctx, intent),
  invite: (ctx, intent) => redeemInvite(ctx, intent),
};

/** Signs in the account of a single-use intent. */
export async function consumeIntent(ctx: Ctx, token: string): Promise<ConsumedIntent> {
  const [intent] = await ctx.db
    .select()
    .from(intents)
    .where(
      and(eq(intents.siteId, ctx.siteId), eq(intents.hash, await sha256(token)), isNull(intents.consumed), gt(intents.expires, ctx.now)),
    );
  if (!intent) throw notFound(INVALID_INTENT);
  const { account, service, thirdPartyAccountId, condition, changes, events } = await REDEEM[intent.kind](ctx, intent);
  await rejectIfTotpEnabled(ctx, account.id);
  const session = await newSession(ctx, ctx.siteId, account);
  const consumed = ctx.db
    .update(intents)
    .set({ consumed: ctx.now, accountId: account.id })
    .where(and(ownRow(ctx, intents, intent.id), isNull(intents.consumed), condition));
  const signedIn = ctx.db
    .update(accounts)
    .set({ lastLogin: ctx.now })
    .where(ownRow(ctx, accounts, account.id));
  const event: NewEvent<"auth.intentConsumed"> = {
    type: "auth.intentConsumed",
    resource: `intent/${intent.id}`,
    data: { _id: intent.id, kind: intent.kind, accountId: account.id },
  };
  const write = () => commitIfUnchanged(ctx, [consumed, ...changes, session.insert, signedIn], event, ...events);
  // Another redemption or a change of the source won the race: start over, which also detects the redemption.
  if (!(await wonRace(write))) return consumeIntent(ctx, token);
  return { authenticated: true, ...session.tokens, service, siteId: ctx.siteId, token, name: account.name, thirdPartyAccountId };
}

/** Deletes intents a day after they expire. */
export async function pruneIntents(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(intents).where(lt(intents.expires, ctx.now - 24 * 60 * 60 * 1000));
}
