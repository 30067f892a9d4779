import { and, eq, gt, isNull, or } from "drizzle-orm";
import { outputs } from "#db/schema/streams/outputs.ts";
import { pages } from "#db/schema/pages.ts";
import { randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { notFound, unauthenticated } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { fromShards } from "#worker/services/core/databases.ts";

const PREFIX = "tifo_out_";

/** A new token and its hash, which is all that is stored. */
export async function newOutputToken(): Promise<{ token: string; hash: string }> {
  const token = `${PREFIX}${randomToken(24)}`;
  return { token, hash: await sha256(token) };
}

export function isOutputToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The id of the output with this token; null unless it is one of this channel, and still valid. */
export async function findOutputId(ctx: Ctx, channelId: string, token: string): Promise<string | null> {
  const [row] = await ctx.db
    .select({ id: outputs.id })
    .from(outputs)
    .where(
      and(
        eq(outputs.hash, await sha256(token)),
        eq(outputs.siteId, ctx.siteId),
        eq(outputs.channelId, channelId),
        or(isNull(outputs.expires), gt(outputs.expires, ctx.now)),
      ),
    );
  return row?.id ?? null;
}

/**
 * The site whose channel a token shows: the page's address doesn't name it. Throws a 401 for a token that isn't valid, and a 404 for any
 * channel but the token's own.
 */
export async function siteOfOutput(env: Env, channelId: string, token: string, now: number): Promise<string> {
  const hash = await sha256(token);
  const [row] = await fromShards(env, (db) =>
    db
      .select({ siteId: outputs.siteId, channelId: outputs.channelId, expires: outputs.expires, page: pages.id })
      .from(outputs)
      .leftJoin(pages, and(eq(pages.siteId, outputs.siteId), eq(pages.id, outputs.channelId)))
      .where(eq(outputs.hash, hash)),
  );
  if (!row || (row.expires !== null && row.expires <= now)) throw unauthenticated("The output has been revoked, or has expired");
  if (row.page === null || row.channelId !== channelId) throw notFound("Channel not found");
  return row.siteId;
}
