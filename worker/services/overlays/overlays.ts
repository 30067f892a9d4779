import { eq, type SQL, sql } from "drizzle-orm";
import { type OverlayRow, overlays } from "#db/schema/overlays.ts";
import type { OverlayContent, OverlayContents } from "#db/types.ts";
import { Failure, notFound } from "#worker/lib/errors.ts";
import { variablesOf } from "#worker/lib/handlebars/template.ts";
import { isGraphicVariable, typeIssues } from "#worker/services/graphics/elements.ts";
import { withSnapshots } from "#worker/services/graphics/snapshots.ts";
import { KIT } from "./kit/catalogue.ts";
import { broadcastIssues, isKitVariable, placeholdersOf } from "./kit/variables.ts";
import { type OverlayInput, toOverlay } from "./schemas.ts";
import {
  channelsOfCaller,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { inOverlay } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { cancelActionsOf } from "#worker/services/schedule/derived.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

type Variables = Record<string, string | number | boolean>;

interface Issue {
  path: string;
  message: string;
}

const overlayList = tableList<OverlayRow>({
  table: overlays,
  rows: (db, slice) => sliceOf(db.select().from(overlays).$dynamic(), slice),
  sort: { created: overlays.created, modified: overlays.modified, name: overlays.name },
  search: { name: overlays.name, description: overlays.description },
});

export async function listOverlays(
  ctx: Ctx,
  query: ListQuery & { type?: OverlayRow["type"]; kind?: string },
): Promise<ListPage<OverlayRow>> {
  const showable = await channelsOfCaller(ctx);
  return listRows(
    ctx,
    overlayList,
    query,
    eq(overlays.siteId, ctx.siteId),
    showable === "all" ? undefined : isShowable(showable),
    query.type && eq(overlays.type, query.type),
    query.kind === undefined ? undefined : hasKind(query.kind),
  );
}

function hasKind(kind: string): SQL {
  return sql`exists (select 1 from json_each(${overlays.contents}) where json_extract(value, '$.kind') = ${kind})`;
}

/** Overlays that are shown everywhere, or on one of these channels: an instance that lists channels is shown on no others. */
function isShowable(channelIds: string[]): SQL {
  const listed = sql`json_each(${overlays.contents}) as content, json_each(content.value, '$.channels') as channel`;
  const isOwn = sql`channel.value in (select value from json_each(${JSON.stringify(channelIds)}))`;
  return sql`(${overlays.type} <> 'instance' or not exists (select 1 from ${listed}) or exists (select 1 from ${listed} where ${isOwn}))`;
}

/** Like `getOverlay`, for callers who may see only those of their channels. */
export async function readOverlay(ctx: Ctx, id: string): Promise<OverlayRow> {
  const overlay = await getOverlay(ctx, id);
  const own = await channelsOfCaller(ctx);
  const listed = listedChannels(overlay);
  if (own !== "all" && listed.length > 0 && !listed.some((channelId) => own.includes(channelId))) throw notFound("Overlay Not Found");
  return overlay;
}

/** The channels that an instance is limited to. */
export function listedChannels(overlay: OverlayRow): string[] {
  return overlay.type === "instance" ? overlay.contents.flatMap((content) => ("channels" in content ? (content.channels ?? []) : [])) : [];
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
  const overlay: OverlayRow = { ...newRow(ctx), ...(await columnsOf(ctx, input)) };
  const event: NewEvent<"overlay.created"> = { type: "overlay.created", resource: `overlay/${overlay.id}`, data: toOverlay(overlay) };
  await commitReferencing(ctx, inOverlay(input), ctx.db.insert(overlays).values(overlay), event);
  return overlay;
}

/** Replaces an overlay; active broadcasts keep showing what was sent. */
export async function updateOverlay(ctx: Ctx, id: string, input: OverlayInput): Promise<OverlayRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getOverlay(ctx, id);
  const next: OverlayRow = { ...current, ...(await columnsOf(ctx, input)), ...nextVersion(ctx, current) };
  const references = newReferences(inOverlay(input), inOverlay(current));
  const change = updateRow(ctx, overlays, current, next, referencesExist(ctx, references));
  const event: NewEvent<"overlay.updated"> = { type: "overlay.updated", resource: `overlay/${id}`, data: toOverlay(next) };
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, change, event));
  return next;
}

export async function deleteOverlay(ctx: Ctx, id: string): Promise<OverlayRow> {
  const current = await getOverlay(ctx, id);
  requireMatch(ctx, current);
  const changes = [deleteRow(ctx, overlays, current), ...(await cancelActionsOf(ctx, id))];
  await commitIfUnchanged(ctx, changes, { type: "overlay.deleted", resource: `overlay/${id}`, data: toOverlay(current) });
  return current;
}

/** The elements, with the URL of each Rive file filled in. */
export function withRiveUrls(contents: OverlayContents): OverlayContents {
  return contents.map((content) =>
    content.kind === "rive" ? { ...content, url: content.url ?? `/media/v1/${content.mediaId}` } : content,
  );
}

/**
 * Throws a 400 that names each variable that the overlay doesn't use, whose type differs from the overlay's own value, or that is
 * missing without a default. The inputs of a Rive file can't be read here, so an overlay with one accepts any name.
 */
export function requireVariables(contents: OverlayContents, given: Variables): void {
  const issues = [...unusedVariables(contents, given), ...contents.flatMap((content) => invalidVariables(content, given))];
  const [first] = issues;
  if (first) throw new Failure("invalid_request", first.message, { issues });
}

function unusedVariables(contents: OverlayContents, given: Variables): Issue[] {
  if (contents.some((content) => content.kind === "rive")) return [];
  const used = new Set(contents.flatMap((content) => [...namesIn(content), ...Object.keys(content.variables ?? {})]));
  const isUsed = (name: string) => used.has(name) || contents.some((content) => hasVariable(content, name));
  return Object.keys(given).flatMap((name) =>
    isUsed(name) ? [] : { path: `variables.${name}`, message: "The overlay has no variable of this name" },
  );
}

function hasVariable(content: OverlayContent, name: string): boolean {
  if (content.kind === "ograf") return isGraphicVariable(content, name);
  return content.kind === "kit" && isKitVariable(content.template, name);
}

function invalidVariables(content: OverlayContent, given: Variables): Issue[] {
  if (content.kind === "ograf") return typeIssues(content, given).map(({ path, message }) => ({ path: `variables.${path}`, message }));
  if (content.kind === "kit") return broadcastIssues(content, given).map(({ path, message }) => ({ path: `variables.${path}`, message }));
  const defaults = new Map(Object.entries(content.variables ?? {}));
  const values = new Map(Object.entries(given));
  return [...new Set([...namesIn(content), ...defaults.keys()])].flatMap((name) => {
    const [value, fallback] = [values.get(name), defaults.get(name)];
    const path = `variables.${name}`;
    if (value === undefined) return fallback === undefined ? { path, message: "The overlay requires this variable" } : [];
    return fallback === undefined || typeof value === typeof fallback ? [] : { path, message: `Must be a ${typeof fallback}` };
  });
}

function namesIn(content: OverlayContent): string[] {
  if (content.kind === "kit") return placeholdersOf(content);
  return content.kind === "html" ? variablesOf(content.html) : [];
}

async function columnsOf(ctx: Ctx, input: OverlayInput) {
  const { name, description, type, duration, cta } = input;
  const contents = input.contents.map((content) =>
    content.kind === "kit" ? { ...content, position: content.position ?? KIT[content.template].position } : content,
  );
  return { name, description, type, duration, contents: await withSnapshots(ctx, contents), cta: cta ?? null };
}
