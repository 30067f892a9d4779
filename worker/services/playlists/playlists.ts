import { and, eq, ne, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { channelTemplates } from "#db/schema/channel-templates.ts";
import { overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { type PlaylistRow, playlists } from "#db/schema/playlists.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { videos } from "#db/schema/videos.ts";
import { type Failure, notFound } from "#worker/lib/errors.ts";
import {
  type PlaylistIdsQuery,
  type PlaylistInput,
  type PlaylistPatch,
  type PlaylistQuery,
  type Reference,
  toPlaylist,
} from "./schemas.ts";
import {
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  ownRows,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { keepGatedOfPlaylist } from "#worker/services/videos/gate-departures.ts";
import { equalTo, type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { inMembers } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

/** The maximum number of references returned per collection. */
const MAX_REFERENCES = 100;

const playlistList = tableList<PlaylistRow>({
  table: playlists,
  rows: (db, slice) => sliceOf(db.select().from(playlists).$dynamic(), slice),
  sort: { modified: playlists.modified, created: playlists.created, title: playlists.title },
  search: { title: playlists.title, description: playlists.description },
});

const PROPERTIES = {
  _id: playlists.id,
  title: playlists.title,
  description: playlists.description,
  tags: playlists.tags,
  created: playlists.created,
  modified: playlists.modified,
};

/** The documents that may reference a playlist or a video, and in which column. */
const REFERRERS: {
  collection: string;
  table: SQLiteTable;
  id: SQLiteColumn;
  siteId: SQLiteColumn;
  name: SQLiteColumn;
  within: SQLiteColumn;
}[] = [
  {
    collection: "playlists",
    table: playlists,
    id: playlists.id,
    siteId: playlists.siteId,
    name: playlists.title,
    within: playlists.members,
  },
  { collection: "panels", table: panels, id: panels.id, siteId: panels.siteId, name: panels.panelName, within: panels.renderer },
  { collection: "pages", table: pages, id: pages.id, siteId: pages.siteId, name: pages.slug, within: pages.data },
  { collection: "overlays", table: overlays, id: overlays.id, siteId: overlays.siteId, name: overlays.name, within: overlays.cta },
  { collection: "quests", table: quests, id: quests.id, siteId: quests.siteId, name: quests.title, within: quests.actions },
  {
    collection: "templates",
    table: channelTemplates,
    id: channelTemplates.id,
    siteId: channelTemplates.siteId,
    name: channelTemplates.title,
    within: channelTemplates.panels,
  },
];

export async function listPlaylists(ctx: Ctx, query: PlaylistQuery): Promise<ListPage<PlaylistRow>> {
  requireOwnSite(ctx, query.siteId);
  return listRows(ctx, playlistList, query, eq(playlists.siteId, ctx.siteId), ...equalTo(PROPERTIES, query));
}

/** Lists the site's playlists with these ids. */
export function listPlaylistsById(ctx: Ctx, query: PlaylistIdsQuery): Promise<ListPage<PlaylistRow>> {
  return listRows(ctx, playlistList, query, ownRows(ctx, playlists, query.ids));
}

export async function getPlaylist(ctx: Ctx, id: string): Promise<PlaylistRow> {
  const [playlist] = await ctx.db
    .select()
    .from(playlists)
    .where(ownRow(ctx, playlists, id));
  if (!playlist) throw playlistNotFound();
  return playlist;
}

export async function createPlaylist(ctx: Ctx, { siteId, ...input }: PlaylistInput): Promise<PlaylistRow> {
  requireOwnSite(ctx, siteId);
  const playlist: PlaylistRow = { ...newRow(ctx), ...input };
  await commitReferencing(ctx, inMembers(input.members), ctx.db.insert(playlists).values(playlist), playlistEvent("created", playlist));
  return playlist;
}

/** Updates some fields of a playlist; lists are replaced. */
export async function updatePlaylist(ctx: Ctx, id: string, { siteId, ...patch }: PlaylistPatch): Promise<PlaylistRow> {
  requireOwnSite(ctx, siteId);
  const current = await getPlaylist(ctx, id);
  const next: PlaylistRow = { ...current, ...patch, ...nextVersion(ctx, current) };
  const references = newReferences(inMembers(patch.members), inMembers(current.members));
  const change = updateRow(ctx, playlists, current, next, referencesExist(ctx, references));
  const changes = [change, ...(await keepGatedOfPlaylist(ctx, id, current.members, next.members))];
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, changes, playlistEvent("updated", next)));
  return next;
}

export async function deletePlaylist(ctx: Ctx, id: string): Promise<PlaylistRow> {
  const current = await getPlaylist(ctx, id);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, playlists, current);
  const changes = [change, ...(await keepGatedOfPlaylist(ctx, id, current.members))];
  await commitIfUnchanged(ctx, changes, playlistEvent("deleted", current));
  return current;
}

/** Finds the documents that reference a playlist or a video. */
export async function findReferences(ctx: Ctx, id: string): Promise<Reference[]> {
  // Ids don't occur in text by chance, so any occurrence is a reference, whatever JSON surrounds it.
  const lookups = REFERRERS.map(({ collection, table, id: documentId, siteId, name, within }) =>
    ctx.db
      .select({
        _id: sql<string>`${documentId}`.as("_id"),
        collection: sql<string>`${collection}`.as("collection"),
        name: sql<string>`${name}`.as("name"),
      })
      .from(table)
      .where(and(eq(siteId, ctx.siteId), ne(documentId, id), sql`instr(${within}, ${id}) > 0`))
      .limit(MAX_REFERENCES),
  );
  const [ownPlaylists, ownVideos, ...found] = await ctx.db.batch([
    ctx.db
      .select({ id: playlists.id })
      .from(playlists)
      .where(ownRow(ctx, playlists, id)),
    ctx.db
      .select({ id: videos.id })
      .from(videos)
      .where(ownRow(ctx, videos, id)),
    ...lookups,
  ]);
  if (ownPlaylists.length + ownVideos.length === 0) throw playlistNotFound();
  return found.flat();
}

export function playlistEvent(change: "created" | "updated" | "deleted", playlist: PlaylistRow): NewEvent {
  return { type: `playlist.${change}`, resource: `playlist/${playlist.id}`, data: toPlaylist(playlist) };
}

function playlistNotFound(): Failure {
  return notFound("Playlist Not Found");
}
