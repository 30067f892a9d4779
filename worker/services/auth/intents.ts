import { and, eq, gt, isNull, lt, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts, type IntentRow, intents } from "#db/schema/index.ts";
import { randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { cameFirst, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import type { ConsumedIntent } from "./schemas.ts";
import { newSession } from "./auth.ts";
import { commitIfCurrent, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { redeemInvite } from "#worker/services/invites/invites.ts";
import { redeemPartnerIntent } from "./partner-intents.ts";
import { refuseWithTotp } from "./totp.ts";

const INTENT_MS = 10 * 60 * 1000;
const GONE = "The intent is unknown, used up or expired";

export interface NewIntent {
  kind: IntentRow["kind"];
  /** Who will be signed in; null where the redemption makes the account. */
  accountId: string | null;
  /** What it follows from, for `voidIntents`. */
  sourceId?: string;
  data: Record<string, unknown>;
}

/** What redeeming an intent comes to: who is signed in, and what is written along with the sign-in. */
export interface Redemption {
  account: { id: string; name: string; passwordVersion: number };
  service: string;
  thirdPartyAccountId: string | null;
  /** Without which the changes are to be planned anew. */
  holds?: SQL;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

const REDEEM: Record<IntentRow["kind"], (ctx: Ctx, intent: IntentRow) => Promise<Redemption>> = {
  partner: (ctx, intent) => redeemPartnerIntent(ctx, intent),
  invite: (ctx, intent) => redeemInvite(ctx, intent),
};

/** An intent to be, good for 10 minutes: `insert` goes into the commit of what it follows from; nobody but its holder sees `token`. */
export async function newIntent(
  ctx: Ctx,
  input: NewIntent,
): Promise<{ id: string; token: string; expiresAt: number; insert: BatchItem<"sqlite"> }> {
  const token = randomToken();
  const intent = {
    ...input,
    id: newId(ctx.now),
    siteId: ctx.siteId,
    hash: await sha256(token),
    created: ctx.now,
    expires: ctx.now + INTENT_MS,
  };
  return { id: intent.id, token, expiresAt: intent.expires, insert: ctx.db.insert(intents).values(intent) };
}

/** Signs in whom an intent stands for, once. */
export async function consumeIntent(ctx: Ctx, token: string): Promise<ConsumedIntent> {
  const [intent] = await ctx.db
    .select()
    .from(intents)
    .where(
      and(eq(intents.siteId, ctx.siteId), eq(intents.hash, await sha256(token)), isNull(intents.consumed), gt(intents.expires, ctx.now)),
    );
  if (!intent) throw notFound(GONE);
  const { account, service, thirdPartyAccountId, holds, changes, events } = await REDEEM[intent.kind](ctx, intent);
  await refuseWithTotp(ctx, account.id);
  const session = await newSession(ctx, ctx.siteId, account);
  const consumed = ctx.db
    .update(intents)
    .set({ consumed: ctx.now, accountId: account.id })
    .where(and(ownRow(ctx, intents, intent.id), isNull(intents.consumed), holds));
  const signedIn = ctx.db
    .update(accounts)
    .set({ lastLogin: ctx.now })
    .where(ownRow(ctx, accounts, account.id));
  const event = {
    type: "auth.intentConsumed",
    resource: `intent/${intent.id}`,
    data: { _id: intent.id, kind: intent.kind, accountId: account.id },
  };
  const write = () => commitIfCurrent(ctx, [consumed, ...changes, session.insert, signedIn], event, ...events);
  // Whoever came first: another redemption, which the next look finds, or a change of what it follows from.
  if (!(await cameFirst(write))) return consumeIntent(ctx, token);
  return { authenticated: true, ...session.tokens, service, siteId: ctx.siteId, token, name: account.name, thirdPartyAccountId };
}

/** Ends the unredeemed intents that follow from something, such as a revoked invite. */
export function voidIntents(ctx: Ctx, sourceId: string): BatchItem<"sqlite"> {
  return ctx.db
    .update(intents)
    .set({ consumed: ctx.now })
    .where(and(eq(intents.siteId, ctx.siteId), eq(intents.sourceId, sourceId), isNull(intents.consumed)));
}

/** Deletes intents a day after they expire. */
export async function pruneIntents(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(intents).where(lt(intents.expires, ctx.now - 24 * 60 * 60 * 1000));
}
