import { and, eq, isNull, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type IntentRow, intents } from "#db/schema/index.ts";
import type { Ctx, NewEvent } from "#worker/services/core/context.ts";
import { randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId } from "#worker/lib/ids.ts";

const INTENT_MS = 10 * 60 * 1000;

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

/** Ends the unredeemed intents that follow from something, such as a revoked invite. */
export function voidIntents(ctx: Ctx, sourceId: string): BatchItem<"sqlite"> {
  return ctx.db
    .update(intents)
    .set({ consumed: ctx.now })
    .where(and(eq(intents.siteId, ctx.siteId), eq(intents.sourceId, sourceId), isNull(intents.consumed)));
}
