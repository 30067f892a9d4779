import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { playlists, polls, quests, sites } from "../../db/schema/index.ts";
import type { PanelRenderer } from "../../db/types.ts";
import { Failure } from "../lib/errors.ts";
import type { Ctx } from "./context.ts";
import { idIn } from "./listing.ts";

type Kind = "quest" | "poll" | "playlist";

const TABLES: Record<Kind, SQLiteTable & { id: SQLiteColumn; siteId: SQLiteColumn }> = { quest: quests, poll: polls, playlist: playlists };

/** What a panel shows, by its path in the body. */
interface Shown {
  kind: Kind;
  id: string;
  path: string;
}

/** What a renderer shows of the site's; what the panel has shown before may have gone since, and is not asked for. */
export function shownBy(renderer: PanelRenderer, before?: PanelRenderer): Shown[] {
  const known = before ? shownBy(before) : [];
  return [
    ...("quests" in renderer ? renderer.quests.map(({ quest_id: id }, index) => shown("quest", id, `quests.${index}.quest_id`)) : []),
    ...("questions" in renderer ? renderer.questions.map(({ poll_id: id }, index) => shown("poll", id, `questions.${index}.poll_id`)) : []),
    ...("playlist_id" in renderer ? [shown("playlist", renderer.playlist_id, "playlist_id")] : []),
  ].filter(({ kind, id }) => !known.some((other) => other.kind === kind && other.id === id));
}

function shown(kind: Kind, id: string, path: string): Shown {
  return { kind, id, path: `renderer.${path}` };
}

/** Writes a panel; a 400 names what it shows that the site doesn't have, or no longer has when it comes to writing. */
export async function withShown<T>(ctx: Ctx, all: Shown[], write: () => Promise<T>): Promise<T> {
  await requireShown(ctx, all);
  try {
    return await write();
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") await requireShown(ctx, all);
    throw error;
  }
}

/** Whether the site has all of it, for the condition of a change; undefined where nothing is shown. */
export function allThere(ctx: Ctx, all: Shown[]): SQL | undefined {
  return and(...byKind(all).map(([kind, ids]) => sql`(select count(*) from ${TABLES[kind]} where ${own(ctx, kind, ids)}) = ${ids.length}`));
}

/** A change of nothing, which touches its row only while all is there: to go first in a `commitIfCurrent` that inserts the panel. */
export function whileAllThere(ctx: Ctx, all: Shown[]): BatchItem<"sqlite">[] {
  const condition = allThere(ctx, all);
  if (!condition) return [];
  return [
    ctx.db
      .update(sites)
      .set({ version: sql`${sites.version}` })
      .where(and(eq(sites.id, ctx.siteId), condition)),
  ];
}

async function requireShown(ctx: Ctx, all: Shown[]): Promise<void> {
  const lookUps = byKind(all).map(([kind, ids]) =>
    ctx.db
      .select({ id: sql<string>`${TABLES[kind].id}`.as("id") })
      .from(TABLES[kind])
      .where(own(ctx, kind, ids)),
  );
  const [first, ...rest] = lookUps;
  if (!first) return;
  const known = new Set((await ctx.db.batch([first, ...rest])).flat().map(({ id }) => id));
  const issues = all.filter(({ id }) => !known.has(id)).map(({ kind, path }) => ({ path, message: `The site has no ${kind} of this id` }));
  if (issues.length > 0) throw new Failure("invalid_request", "The panel shows what the site doesn't have", { issues });
}

function own(ctx: Ctx, kind: Kind, ids: string[]): SQL | undefined {
  return and(eq(TABLES[kind].siteId, ctx.siteId), idIn(TABLES[kind].id, ids));
}

function byKind(all: Shown[]): [Kind, string[]][] {
  const kinds = new Set(all.map(({ kind }) => kind));
  return [...kinds].map((kind) => [kind, [...new Set(all.filter((one) => one.kind === kind).map(({ id }) => id))]]);
}
