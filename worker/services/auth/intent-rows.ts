import { and, eq, isNull, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type IntentRow, intents } from "#db/schema/accounts.ts";
import type { Ctx, NewEvent } from "#worker/services/core/context.ts";
import { randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId } from "#worker/lib/ids.ts";

const INTENT_MS = 10 * 60 * 1000;

export interface NewIntent {
  kind: IntentRow["kind"];
  /** The account to sign in; null if the redemption creates it. */
  accountId: string | null;
  /** The resource that it was created for, for `voidIntents`. */
  sourceId?: string;
  data: Record<string, unknown>;
}

/** The outcome of redeeming an intent: the account to sign in, and what to write along with the session. */
export interface Redemption {
  account: { id: string; name: string; passwordVersion: number };
  service: string;
  thirdPartyAccountId: string | null;
  /** The condition of the changes; if it fails, they must be planned again. */
  condition?: SQL;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

/** A new intent, valid for 10 minutes; add `insert` to the commit. Only the holder ever sees `token`. */
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

/** Voids the unredeemed intents of a source, such as a revoked invite. */
export function voidIntents(ctx: Ctx, sourceId: string): BatchItem<"sqlite"> {
  return ctx.db
    .update(intents)
    .set({ consumed: ctx.now })
    .where(and(eq(intents.siteId, ctx.siteId), eq(intents.sourceId, sourceId), isNull(intents.consumed)));
}
