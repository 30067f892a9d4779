import { eq, type SQL, sql } from "drizzle-orm";
import { overlays } from "../../db/schema/index.ts";
import type { OverlayContents } from "../../db/types.ts";
import { notFound } from "../lib/errors.ts";
import { type OverlayInput, type OverlayRow, toOverlay } from "../routes/overlays/schemas.ts";
import { asRead, commit, commitIfCurrent, type Ctx, newRow, nextVersion, ownRow, requireMatch } from "./context.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "./listing.ts";
import { requireOwnSite } from "./sites.ts";

const overlayList: ListSpec<OverlayRow> = {
  table: overlays,
  id: { by: overlays.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(overlays).$dynamic(), slice),
  sort: {
    created: { by: overlays.created, of: (row) => row.created },
    modified: { by: overlays.modified, of: (row) => row.modified },
    name: { by: overlays.name, of: (row) => row.name },
  },
  defaultDirection: -1,
  search: { name: overlays.name, description: overlays.description },
};

export function listOverlays(ctx: Ctx, query: ListQuery & { type?: OverlayRow["type"]; kind?: string }): Promise<ListPage<OverlayRow>> {
  return listRows(
    ctx,
    overlayList,
    query,
    eq(overlays.siteId, ctx.siteId),
    query.type && eq(overlays.type, query.type),
    query.kind === undefined ? undefined : hasKind(query.kind),
  );
}

function hasKind(kind: string): SQL {
  return sql`exists (select 1 from json_each(${overlays.contents}) where json_extract(value, '$.kind') = ${kind})`;
}

export async function getOverlay(ctx: Ctx, id: string): Promise<OverlayRow> {
  const [overlay] = await ctx.db
    .select()
    .from(overlays)
    .where(ownRow(ctx, overlays, id));
  if (!overlay) throw notFound("Overlay Not Found");
  return overlay;
}

export async function createOverlay(ctx: Ctx, input: OverlayInput): Promise<OverlayRow> {
  requireOwnSite(ctx, input.siteId);
  const overlay: OverlayRow = { ...newRow(ctx), ...columnsOf(input) };
  await commit(ctx, ctx.db.insert(overlays).values(overlay), {
    type: "overlay.created",
    resource: `overlay/${overlay.id}`,
    data: toOverlay(overlay),
  });
  return overlay;
}

/** Replaces an overlay; broadcasts that are on keep showing what was sent. */
export async function updateOverlay(ctx: Ctx, id: string, input: OverlayInput): Promise<OverlayRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getOverlay(ctx, id);
  const next: OverlayRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  const change = ctx.db
    .update(overlays)
    .set(next)
    .where(asRead(ctx, overlays, current));
  await commitIfCurrent(ctx, change, { type: "overlay.updated", resource: `overlay/${id}`, data: toOverlay(next) });
  return next;
}

export async function deleteOverlay(ctx: Ctx, id: string): Promise<OverlayRow> {
  const current = await getOverlay(ctx, id);
  requireMatch(ctx, current);
  const change = ctx.db.delete(overlays).where(asRead(ctx, overlays, current));
  await commitIfCurrent(ctx, change, { type: "overlay.deleted", resource: `overlay/${id}`, data: toOverlay(current) });
  return current;
}

/** The contents with each rive file's url in place. */
export function withRiveUrls(contents: OverlayContents): OverlayContents {
  return contents.map((content) =>
    content.kind === "rive" ? { ...content, url: content.url ?? `/media/v1/${content.mediaId}` } : content,
  );
}

function columnsOf(input: OverlayInput) {
  const { name, description, type, duration, contents, cta } = input;
  return { name, description, type, duration, contents, cta: cta ?? null };
}
