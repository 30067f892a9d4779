import { and, eq, type SQL, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { accounts } from "#db/schema/accounts.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { sites } from "#db/schema/sites.ts";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { logError } from "#worker/lib/log.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import { givesAccess } from "#worker/services/subscriptions/entitlements.ts";
import { leaderboardsOf, matches, type SegmentFilter, type SegmentViewer, uses } from "./filter.ts";
import { Filter } from "./schemas.ts";

/** A segment as it is evaluated. */
export interface Segment {
  slug: string;
  filter: SegmentFilter;
}

/** A site's segments as of a version of its row. */
export interface SiteSegments {
  version: number;
  segments: Segment[];
}

/** What is stored about an account that a filter can ask for. */
export type AccountAttributes = Pick<SegmentViewer, "tags" | "entitlements" | "roles" | "watchSeconds" | "points">;

/** What only the connection or request of a viewer says. */
export type ConnectionAttributes = Pick<SegmentViewer, "language" | "country">;

const Stored = z.record(z.string(), z.unknown());
const Named = z.object({ filter: Filter });
const Texts = z.array(z.string());
const Scopes = z.array(z.object({ scope: z.string() }));

/** The segments of a site as JSON text, for a select of another table. */
export function segmentsJson(siteId: string): SQL<string | null> {
  return sql<string | null>`(select json_extract(${sites.settings}, '$.userSegments') from ${sites} where ${sites.id} = ${siteId})`;
}

/** The version of the site's row, for a select of another table. */
export function siteVersion(siteId: string): SQL<number> {
  return sql<number>`(select ${sites.version} from ${sites} where ${sites.id} = ${siteId})`;
}

/** Parses stored segments. Settings of an earlier release may hold anything, which is left out. */
export function parseSegments(json: string | null): Segment[] {
  if (json === null) return [];
  const stored = Stored.safeParse(JSON.parse(json)).data ?? {};
  return Object.entries(stored).flatMap(([slug, value]) => {
    const { data } = Named.safeParse(value);
    return data ? [{ slug, filter: data.filter }] : [];
  });
}

/** What is stored about an account in JSON text, for a select of `accounts`. Watch time is only added up if a segment depends on it. */
export function attributeColumns(siteId: string, now: number) {
  const held = and(eq(accountEntitlements.siteId, siteId), sql`${accountEntitlements.accountId} = ${accounts.id}`, givesAccess(now));
  return {
    tags: sql<string>`${accounts.tags}`.as("segment_tags"),
    scopes: sql<string>`${effectiveRoles}`.as("segment_roles"),
    entitlements: sql<string>`case when ${segmentsJson(siteId)} is null then '[]' else
      (select json_group_array(${accountEntitlements.sku}) from ${accountEntitlements} where ${held}) end`.as("segment_skus"),
    watchSeconds: sql<number>`case when instr(${segmentsJson(siteId)}, '"watchMinutes"') > 0 then ${watchSeconds(siteId)} else 0 end`.as(
      "segment_watch",
    ),
  };
}

/** The seconds of video that an account has watched. */
export function watchSeconds(siteId: string): SQL<number> {
  return sql<number>`(select coalesce(sum(${viewerActivity.seconds}), 0) from ${viewerActivity}
    where ${viewerActivity.siteId} = ${siteId} and ${viewerActivity.accountId} = ${accounts.id} and ${viewerActivity.kind} = 'watch')`;
}

export const AttributeRow = z.object({
  tags: z.string(),
  scopes: z.string(),
  entitlements: z.string(),
  watchSeconds: z.number(),
});

/** Reads the columns of `attributeColumns`; `points` are those of `readPoints`. */
export function toAttributes(
  { tags, scopes, entitlements, watchSeconds }: z.output<typeof AttributeRow>,
  points: AccountAttributes["points"],
): AccountAttributes {
  return {
    tags: Texts.parse(JSON.parse(tags)),
    entitlements: Texts.parse(JSON.parse(entitlements)),
    roles: Scopes.parse(JSON.parse(scopes)).map(({ scope }) => scope),
    watchSeconds,
    points,
  };
}

/**
 * The points of these accounts on the leaderboards that the segments depend on: a call to each, and none for most sites. One that doesn't
 * respond counts as 0 points until the next check, so that it doesn't keep viewers out.
 */
export async function readPoints(
  env: Env,
  siteId: string,
  segments: Segment[],
  accountIds: string[],
): Promise<(accountId: string) => AccountAttributes["points"]> {
  const boards = accountIds.length === 0 ? [] : leaderboardsOf(segments);
  const byBoard = await Promise.all(
    boards.map(async (id): Promise<[string, Record<string, number>]> => {
      try {
        return [id, await leaderboardOf(env, siteId, id).pointsOf(accountIds)];
      } catch (error) {
        logError("segment_points_failed", error, { siteId, leaderboardId: id });
        return [id, {}];
      }
    }),
  );
  return (accountId) => Object.fromEntries(byBoard.map(([id, points]) => [id, points[accountId] ?? 0]));
}

const SIGNED_OUT: AccountAttributes = { tags: [], entitlements: [], roles: [], watchSeconds: 0, points: {} };

/** The slugs of the segments that a viewer is in; without an account, that of a signed-out viewer. */
export function slugsFor(segments: Segment[], account: AccountAttributes | null, { language, country }: ConnectionAttributes): string[] {
  const viewer = { signedIn: account !== null, ...(account ?? SIGNED_OUT), language, country };
  return segments.flatMap(({ slug, filter }) => (matches(filter, viewer) ? [slug] : []));
}

/** Whether any segment depends on what grows without an event: the time that viewers have watched, and points. */
export function changeWithTime(segments: Segment[]): boolean {
  return segments.some(({ filter }) => uses(filter, "watchMinutes") || uses(filter, "points"));
}

/** The slugs of the segments that the caller is in: one round trip, and a call to each leaderboard that they depend on. */
export async function callerSegments(ctx: Ctx, connection: ConnectionAttributes): Promise<string[]> {
  const actor = await ctx.caller();
  const accountId = actor.kind === "account" ? actor.id : "";
  const [[site], [account]] = await ctx.db.batch([
    ctx.db
      .select({ segments: segmentsJson(ctx.siteId).as("segments") })
      .from(sites)
      .where(eq(sites.id, ctx.siteId)),
    ctx.db
      .select(attributeColumns(ctx.siteId, ctx.now))
      .from(accounts)
      .where(and(eq(accounts.siteId, ctx.siteId), eq(accounts.id, accountId))),
  ]);
  const segments = parseSegments(site?.segments ?? null);
  if (!account) return slugsFor(segments, null, connection);
  const pointsOf = await readPoints(ctx.env, ctx.siteId, segments, [accountId]);
  return slugsFor(segments, toAttributes(AttributeRow.parse(account), pointsOf(accountId)), connection);
}
