import { z } from "@hono/zod-openapi";
import { MEMBER_SCHEMAS } from "#db/enums.ts";
import type { PlaylistRow } from "#db/schema/playlists.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { commaSeparated, fromQuery, Id, Tags, Tracked } from "#worker/lib/schemas/common.ts";

const Title = z.string().trim().min(1).max(300).openapi({ example: "Derby day" });
const Description = z.string().max(10_000);

export const PlaylistMember = z
  .strictObject({ id: Id, schema: z.enum(MEMBER_SCHEMAS).describe("The kind of member") })
  .openapi("PlaylistMember", { example: { id: "5eed00000000000000004001", schema: "video" } });

const Members = z.array(PlaylistMember).max(1000).describe("In order. A deleted member stays listed until the playlist is updated.");
const siteId = Id.optional().describe("Must equal Tifo-Client-Id");
const fields = { title: Title, description: Description, members: Members, tags: Tags };

export const PlaylistInput = z
  .strictObject({ siteId, title: Title, members: Members, description: Description.default(""), tags: Tags.default([]) })
  .openapi("PlaylistInput", {
    example: { title: "Derby day", description: "Every goal", members: [{ id: "5eed00000000000000004001", schema: "video" }] },
  });

export const PlaylistPatch = z
  .strictObject({ siteId, ...fields })
  .partial()
  .openapi("PlaylistPatch", { example: { title: "Derby day, second half" } });

export const ImportInput = z
  .strictObject({
    siteId,
    url: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .describe("URL of a public playlist, including its `list` parameter"),
  })
  .openapi("PlaylistImport", { example: { url: "https://www.youtube.com/playlist?list=PL-match-highlights" } });

export const Playlist = z.object({ _id: Id, siteId: Id, ...fields, ...Tracked }).openapi("Playlist");

/** A playlist with only the requested fields. */
export const ProjectedPlaylist = Playlist.partial().required({ _id: true }).openapi("ProjectedPlaylist");

export const Reference = z
  .object({ _id: Id, collection: z.string().describe("The kind of document"), name: z.string() })
  .openapi("Reference", { example: { _id: "5eed0000000000000000d001", collection: "panels", name: "Highlights" } });

const FIELDS = ["siteId", "title", "description", "members", "tags", "created", "modified"] as const;
const projection = commaSeparated(z.enum(["_id", ...FIELDS]), 8, "title,members")
  .optional()
  .describe("The fields to return, comma-separated; `_id` is always included");
const Moment = fromQuery(z.number().int());

/** Filters by any property of a playlist, as `?property=value`. */
export const PlaylistQuery = listQuery(["modified", "created", "title"], {
  projection,
  _id: Id.optional(),
  siteId,
  title: z.string().max(300).optional(),
  description: Description.optional(),
  tags: z.string().max(100).optional().describe("Only playlists with this tag"),
  created: Moment.optional().describe("Milliseconds since 1970 UTC"),
  modified: Moment.optional().describe("Milliseconds since 1970 UTC"),
});

export const PlaylistIdsQuery = listQuery(["modified", "created", "title"], {
  projection,
  ids: commaSeparated(Id, 200, "5eed00000000000000004801,5eed00000000000000004802").describe("At most 200, comma-separated"),
});

export type PlaylistInput = z.output<typeof PlaylistInput>;
export type PlaylistPatch = z.output<typeof PlaylistPatch>;
export type PlaylistQuery = z.output<typeof PlaylistQuery>;
export type PlaylistIdsQuery = z.output<typeof PlaylistIdsQuery>;
export type Reference = z.output<typeof Reference>;

export function toPlaylist(row: PlaylistRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    title: row.title,
    description: row.description,
    members: row.members,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Playlist>;
}

/** The playlist reduced to the fields of a projection. */
export function projectPlaylist(row: PlaylistRow, selected: readonly string[] | undefined): z.output<typeof ProjectedPlaylist> {
  const playlist = toPlaylist(row);
  if (!selected) return playlist;
  return { ...Object.fromEntries(Object.entries(playlist).filter(([field]) => selected.includes(field))), _id: playlist._id };
}
