import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { automationRules } from "#db/schema/automation-rules.ts";
import { calendarEvents } from "#db/schema/calendar.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { leaderboards } from "#db/schema/engagement/leaderboards.ts";
import { graphics } from "#db/schema/graphics.ts";
import { media } from "#db/schema/media.ts";
import { navigations } from "#db/schema/navigation.ts";
import { overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { playlists } from "#db/schema/playlists.ts";
import { polls } from "#db/schema/engagement/polls.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { sites } from "#db/schema/sites.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { themes } from "#db/schema/themes.ts";
import { videos } from "#db/schema/videos.ts";
import { Failure, type Issue, LostRace } from "#worker/lib/errors.ts";
import { commit, commitIfUnchanged, type Ctx, type NewEvent } from "./context.ts";
import { idIn } from "./listing.ts";

/** Where resources of a kind are stored, and the column that identifies them. */
interface Kind {
  table: (SQLiteTable & { siteId: SQLiteColumn }) | SQL;
  by: SQLiteColumn | SQL;
  only?: SQL;
  /** Whether the operator's resources are available to every site. */
  shared?: boolean;
  label?: string;
}

const KINDS = {
  theme: { table: themes, by: themes.id, shared: true },
  navigation: { table: navigations, by: navigations.id },
  page: { table: pages, by: pages.id },
  landing: { table: pages, by: pages.id, only: eq(pages.type, "landing") },
  channel: { table: pages, by: pages.id, only: eq(pages.type, "channel") },
  panel: { table: panels, by: panels.id },
  "panel's slug": { table: panels, by: panels.slug, label: "panel with this slug" },
  quest: { table: quests, by: quests.id },
  poll: { table: polls, by: polls.id },
  playlist: { table: playlists, by: playlists.id },
  video: { table: videos, by: videos.id },
  overlay: { table: overlays, by: overlays.id },
  template: { table: overlays, by: overlays.id, only: eq(overlays.type, "template") },
  "data provider": { table: dataProviders, by: dataProviders.id },
  rule: { table: automationRules, by: automationRules.id },
  event: { table: calendarEvents, by: calendarEvents.id },
  stream: { table: streams, by: streams.id },
  leaderboard: { table: leaderboards, by: leaderboards.id },
  file: { table: media, by: media.id },
  graphic: { table: graphics, by: graphics.id, only: eq(graphics.ready, true) },
  segment: {
    table: sql`${sites}, json_each(${sites.settings}, '$.userSegments') as segment`,
    by: sql`segment.key`,
    label: "segment with this slug",
  },
  sku: { table: subscriptions, by: subscriptions.sku, label: "subscription with this sku" },
} satisfies Record<string, Kind>;

export type ReferenceKind = keyof typeof KINDS;

/** A reference to another resource, with its path in the body. */
export interface Reference {
  kind: ReferenceKind;
  id: string;
  path: string;
}

/** The references that the resource didn't have before. Existing ones are not checked: their targets may have been deleted since. */
export function newReferences(next: Reference[], before: Reference[]): Reference[] {
  const known = new Set(before.map(({ kind, id }) => `${kind} ${id}`));
  return next.filter(({ kind, id }) => !known.has(`${kind} ${id}`));
}

/** The condition that all references exist, for the `where` of a change; undefined without references. */
export function referencesExist(ctx: Ctx, references: Reference[]): SQL | undefined {
  return and(
    ...byKind(references).map(([kind, ids]) => {
      const { table, by }: Kind = KINDS[kind];
      return sql`(select count(distinct ${by}) from ${table} where ${owned(ctx, kind, ids)}) = ${ids.length}`;
    }),
  );
}

/** A no-op update that affects a row only if all references exist; comes first in a `commitIfUnchanged` that inserts. */
export function guardReferences(ctx: Ctx, references: Reference[]): BatchItem<"sqlite">[] {
  const condition = referencesExist(ctx, references);
  if (!condition) return [];
  return [
    ctx.db
      .update(sites)
      .set({ version: sql`${sites.version}` })
      .where(and(eq(sites.id, ctx.siteId), condition)),
  ];
}

/**
 * Runs a write that requires all references to exist. Nothing is checked beforehand, so a valid request needs no extra round trip;
 * a failed write becomes a 400 that names what is missing.
 */
export async function withReferences<T>(ctx: Ctx, references: Reference[], write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof LostRace) await requireReferences(ctx, references);
    throw error;
  }
}

/** Inserts rows with references, if these exist. */
export function commitReferencing(
  ctx: Ctx,
  references: Reference[],
  changes: BatchItem<"sqlite"> | BatchItem<"sqlite">[],
  ...events: [NewEvent, ...NewEvent[]]
): Promise<string[]> {
  const guard = guardReferences(ctx, references);
  if (guard.length === 0) return commit(ctx, changes, ...events);
  return withReferences(ctx, references, () => commitIfUnchanged(ctx, [...guard, changes].flat(), ...events));
}

/** Throws a 400 that names every reference that doesn't exist. */
export async function requireReferences(ctx: Ctx, references: Reference[]): Promise<void> {
  const kinds = byKind(references);
  const [first, ...rest] = kinds.map(([kind, ids]) => {
    const { table, by }: Kind = KINDS[kind];
    return ctx.db
      .select({ id: sql<string>`${by}`.as("id") })
      .from(table)
      .where(owned(ctx, kind, ids));
  });
  if (!first) return;
  const found = await ctx.db.batch([first, ...rest]);
  const known = new Set(kinds.flatMap(([kind], index) => (found[index] ?? []).map(({ id }) => `${kind} ${id}`)));
  const issues: Issue[] = references.flatMap(({ kind, id, path }) =>
    known.has(`${kind} ${id}`) ? [] : [{ path, message: missing(kind) }],
  );
  if (issues.length > 0) throw new Failure("invalid_request", "The request references resources that the site doesn't have", { issues });
}

function missing(kind: ReferenceKind): string {
  const { label = `${kind} with this id` }: Kind = KINDS[kind];
  return `The site has no ${label}`;
}

function owned(ctx: Ctx, kind: ReferenceKind, ids: string[]): SQL | undefined {
  const { table, by, only, shared = false }: Kind = KINDS[kind];
  // What isn't a table is part of the site itself.
  const site = "siteId" in table ? table.siteId : sites.id;
  const isOwn = inArray(site, shared ? [ctx.siteId, ""] : [ctx.siteId]);
  // The plus as in `ownRows`; what isn't found by its id is found by an index of the site.
  return and("id" in table && by === table.id ? sql`+${isOwn}` : isOwn, idIn(by, ids), only);
}

function byKind(references: Reference[]): [ReferenceKind, string[]][] {
  return [...Map.groupBy(references, ({ kind }) => kind)].map(([kind, all]) => [kind, [...new Set(all.map(({ id }) => id))]]);
}
