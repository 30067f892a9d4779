import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import {
  automationRules,
  calendarEvents,
  media,
  navigations,
  overlays,
  pages,
  panels,
  playlists,
  polls,
  quests,
  sites,
  streams,
  subscriptions,
  themes,
  videos,
} from "#db/schema/index.ts";
import { Failure, type Issue, LostRace } from "#worker/lib/errors.ts";
import { commit, commitIfUnchanged, type Ctx, type NewEvent } from "./context.ts";
import { idIn } from "./listing.ts";

/** Where things of a kind are stored, and by what they are named. */
interface Kind {
  table: SQLiteTable & { siteId: SQLiteColumn };
  by: SQLiteColumn;
  only?: SQL;
  /** The operator's are every site's. */
  shared?: boolean;
  what?: string;
}

const KINDS = {
  theme: { table: themes, by: themes.id, shared: true },
  navigation: { table: navigations, by: navigations.id },
  page: { table: pages, by: pages.id },
  channel: { table: pages, by: pages.id, only: eq(pages.type, "channel") },
  panel: { table: panels, by: panels.id },
  "panel's slug": { table: panels, by: panels.slug, what: "panel of this slug" },
  quest: { table: quests, by: quests.id },
  poll: { table: polls, by: polls.id },
  playlist: { table: playlists, by: playlists.id },
  video: { table: videos, by: videos.id },
  overlay: { table: overlays, by: overlays.id },
  template: { table: overlays, by: overlays.id, only: eq(overlays.type, "template") },
  rule: { table: automationRules, by: automationRules.id },
  event: { table: calendarEvents, by: calendarEvents.id },
  stream: { table: streams, by: streams.id },
  file: { table: media, by: media.id },
  sku: { table: subscriptions, by: subscriptions.sku, what: "subscription of this sku" },
} satisfies Record<string, Kind>;

export type ReferenceKind = keyof typeof KINDS;

/** What a request names, by its path in the body. */
export interface Reference {
  kind: ReferenceKind;
  id: string;
  path: string;
}

/** Those that the resource didn't name before: what it names already may be gone since. */
export function newReferences(next: Reference[], before: Reference[]): Reference[] {
  const known = new Set(before.map(({ kind, id }) => `${kind} ${id}`));
  return next.filter(({ kind, id }) => !known.has(`${kind} ${id}`));
}

/** The condition that the site has everything that is named, for the `where` of a change; undefined where nothing is. */
export function referencesExist(ctx: Ctx, references: Reference[]): SQL | undefined {
  return and(
    ...byKind(references).map(([kind, ids]) => {
      const { table, by }: Kind = KINDS[kind];
      return sql`(select count(distinct ${by}) from ${table} where ${owned(ctx, kind, ids)}) = ${ids.length}`;
    }),
  );
}

/** A change of nothing that touches its row only while everything exists, to go first in a `commitIfCurrent` that inserts. */
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
 * Runs a write that holds only while everything exists. Nothing is asked beforehand, so a valid request costs no round trip for it; a
 * write that failed is a 400 that names what is missing.
 */
export async function withReferences<T>(ctx: Ctx, references: Reference[], write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof LostRace) await requireReferences(ctx, references);
    throw error;
  }
}

/** Inserts rows that name others, while those exist. */
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

/** A 400 that names everything that the site doesn't have. */
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
  if (issues.length > 0) throw new Failure("invalid_request", "It names what the site doesn't have", { issues });
}

function missing(kind: ReferenceKind): string {
  const { what = `${kind} of this id` }: Kind = KINDS[kind];
  return `The site has no ${what}`;
}

function owned(ctx: Ctx, kind: ReferenceKind, ids: string[]): SQL | undefined {
  const { table, by, only, shared = false }: Kind = KINDS[kind];
  return and(inArray(table.siteId, shared ? [ctx.siteId, ""] : [ctx.siteId]), idIn(by, ids), only);
}

function byKind(references: Reference[]): [ReferenceKind, string[]][] {
  return [...Map.groupBy(references, ({ kind }) => kind)].map(([kind, all]) => [kind, [...new Set(all.map(({ id }) => id))]]);
}
