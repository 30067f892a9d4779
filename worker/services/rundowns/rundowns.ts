import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { rundownOperators, type RundownRow, rundowns, rundownTakes } from "#db/schema/rundowns.ts";
import type { RundownItem } from "#db/types.ts";
import type { z } from "@hono/zod-openapi";
import { forbidden, invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import type { Action } from "#worker/lib/roles.ts";
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
  requirePage,
  updateRow,
} from "#worker/services/core/context.ts";
import { idIn, type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { commitReferencing, newReferences, type Reference, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { wakeScheduler } from "#worker/services/schedule/derived.ts";
import { selectBrokenItems } from "./broken-items.ts";
import { inRundown, requireItemRights } from "./item-rights.ts";
import { RundownItem as ItemSchema, type RundownItemInput } from "./item-schemas.ts";
import { selectOperators, toOperators } from "./operators.ts";
import {
  type NamedTake,
  type PresentOperator,
  type Rundown,
  type RundownInput,
  type RundownPatch,
  type RundownQuery,
  type RundownReplacement,
  type SummarisedRundown,
  toStateEvent,
  toSummary,
  toTake,
} from "./schemas.ts";
import { lastKept, nextItem, nextTime, timeAfterEdit, timeKey } from "./steps.ts";
import { selectOnAir } from "./takes.ts";

const { id, siteId, channelId, name, generation, held, created, modified } = rundowns;
const itemCount = sql<number>`json_array_length(${rundowns.items})`.as("item_count");

const rundownList = tableList<SummarisedRundown>({
  table: rundowns,
  rows: (db, slice) =>
    sliceOf(db.select({ id, siteId, channelId, name, generation, held, created, modified, itemCount }).from(rundowns).$dynamic(), slice),
  sort: { created, name },
  search: { name },
});

/** A rundown with what is on air, who has it open, and which items can't be taken. */
export interface OpenRundown {
  rundown: RundownRow;
  onAir: NamedTake[];
  operators: PresentOperator[];
  brokenItemIds: string[];
}

/** Lists rundowns; creators get those of their channels. */
export async function listRundowns(ctx: Ctx, query: RundownQuery): Promise<ListPage<SummarisedRundown>> {
  const own = await channelsOfCaller(ctx);
  return listRows(
    ctx,
    rundownList,
    query,
    eq(siteId, ctx.siteId),
    query.channelId === undefined ? undefined : eq(channelId, query.channelId),
    own === "all" ? undefined : idIn(channelId, own),
  );
}

export async function openRundown(ctx: Ctx, id: string): Promise<OpenRundown> {
  const [[rundown], onAir, operators, broken] = await ctx.db.batch([
    selectRundown(ctx, id),
    selectOnAir(ctx, id),
    selectOperators(ctx, id),
    selectBrokenItems(ctx, id),
  ]);
  if (!rundown) throw notFound("Rundown not found");
  await requirePage(ctx, rundown.channelId, "read");
  return { rundown, onAir, operators: await toOperators(ctx, operators), brokenItemIds: broken.map(({ itemId }) => itemId) };
}

export async function getRundown(ctx: Ctx, id: string, action: Action): Promise<RundownRow> {
  const [rundown] = await selectRundown(ctx, id);
  if (!rundown) throw notFound("Rundown not found");
  await requirePage(ctx, rundown.channelId, action);
  return rundown;
}

/** Selects a rundown of the site, for use in a batch. */
export function selectRundown(ctx: Ctx, id: string) {
  return ctx.db
    .select(getTableColumns(rundowns))
    .from(rundowns)
    .where(ownRow(ctx, rundowns, id));
}

export async function createRundown(ctx: Ctx, { channelId, name, items }: RundownInput): Promise<OpenRundown> {
  await requirePage(ctx, channelId, "write");
  const stored = itemsOf(ctx, items, []);
  await requireItemRights(ctx, stored, []);
  const rundown: RundownRow = {
    ...newRow(ctx),
    channelId,
    name,
    items: stored,
    generation: 0,
    lastItemId: null,
    armedItemId: null,
    held: false,
    timedAt: nextTime(stored, ctx.now),
    followAt: null,
    followFrom: null,
    editedBy: await editorOf(ctx),
  };
  const references: Reference[] = [{ kind: "channel", path: "channelId", id: channelId }, ...inRundown(stored)];
  await commitReferencing(ctx, references, ctx.db.insert(rundowns).values(rundown), rundownEvent("created", rundown));
  await wakeScheduler(ctx, rundown.timedAt);
  return { rundown, onAir: [], operators: [], brokenItemIds: [] };
}

/** Replaces name and items; what was taken, and the position in the show, stay. */
export async function replaceRundown(ctx: Ctx, id: string, { name, items }: RundownReplacement): Promise<OpenRundown> {
  const current = await getRundown(ctx, id, "write");
  requireMatch(ctx, current);
  const stored = itemsOf(ctx, items, current.items);
  await requireItemRights(ctx, stored, current.items);
  const change = {
    ...nextVersion(ctx, current),
    name,
    items: stored,
    lastItemId: lastKept(current.items, current.lastItemId, stored),
    armedItemId: stored.some(({ _id }) => _id === current.armedItemId) ? current.armedItemId : null,
    timedAt: timeAfterEdit(current, stored, ctx.now),
    editedBy: await editorOf(ctx),
  };
  const references = newReferences(inRundown(stored), inRundown(current.items));
  // A take in the meantime would have moved the position.
  const isUnmoved = eq(rundowns.generation, current.generation);
  const update = updateRow(ctx, rundowns, current, change, isUnmoved, referencesExist(ctx, references));
  const event = rundownEvent("updated", { ...current, ...change });
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, update, event));
  await wakeScheduler(ctx, change.timedAt);
  return openRundown(ctx, id);
}

/** Arms an item, or holds or releases the rundown. */
export async function patchRundown(ctx: Ctx, id: string, { armedItemId, held }: RundownPatch): Promise<OpenRundown> {
  const current = await getRundown(ctx, id, "write");
  requireMatch(ctx, current);
  if (armedItemId && !current.items.some(({ _id }) => _id === armedItemId))
    throw invalid("armedItemId", "The rundown has no item with this id");
  const change = {
    modified: ctx.now,
    ...(armedItemId === undefined ? {} : { armedItemId }),
    ...(held === true ? { held, followAt: null, followFrom: null } : {}),
    ...(held === false && current.held ? { held, timedAt: nextTime(current.items, ctx.now) } : {}),
  };
  // The items must be those that were read.
  const update = updateRow(ctx, rundowns, current, change);
  const next = { ...current, ...change };
  await commitIfUnchanged(ctx, update, { type: "rundown.stateChanged", resource: `rundown/${id}`, data: toStateEvent(next) });
  if (!next.held) await wakeScheduler(ctx, next.timedAt);
  return openRundown(ctx, id);
}

/** Deletes a rundown with its as-run log; what is on air runs to its end. */
export async function deleteRundown(ctx: Ctx, id: string): Promise<void> {
  const current = await getRundown(ctx, id, "write");
  requireMatch(ctx, current);
  const ofRundown = [
    ctx.db.delete(rundownTakes).where(and(eq(rundownTakes.siteId, ctx.siteId), eq(rundownTakes.rundownId, id))),
    ctx.db.delete(rundownOperators).where(and(eq(rundownOperators.siteId, ctx.siteId), eq(rundownOperators.rundownId, id))),
  ];
  await commitIfUnchanged(ctx, [deleteRow(ctx, rundowns, current), ...ofRundown], rundownEvent("deleted", current));
}

/** The statements, for the batch that deletes a channel, that delete its rundowns. */
export function deleteRundownsOfChannel(ctx: Ctx, channelId: string): BatchItem<"sqlite">[] {
  const ofChannel = sql`select id from rundowns where site_id = ${ctx.siteId} and channel_id = ${channelId}`;
  return [
    ctx.db
      .delete(rundownOperators)
      .where(and(eq(rundownOperators.siteId, ctx.siteId), sql`${rundownOperators.rundownId} in (${ofChannel})`)),
    ctx.db.delete(rundownTakes).where(and(eq(rundownTakes.siteId, ctx.siteId), eq(rundownTakes.channelId, channelId))),
    ctx.db.delete(rundowns).where(and(eq(rundowns.siteId, ctx.siteId), eq(rundowns.channelId, channelId))),
  ];
}

export function toRundown({ rundown, onAir, operators, brokenItemIds }: OpenRundown) {
  return {
    ...toSummary({ ...rundown, itemCount: rundown.items.length }),
    items: rundown.items.map((item) => ItemSchema.parse(item)),
    lastItemId: rundown.lastItemId,
    armedItemId: rundown.armedItemId,
    nextItemId: nextItem(rundown)?._id ?? null,
    waitsUntil: rundown.followAt,
    onAir: onAir.map(toTake),
    operators,
    brokenItemIds,
  } satisfies z.output<typeof Rundown>;
}

/** The items to store: those with an id must be the rundown's own, each once; the others get a new id. */
function itemsOf(ctx: Ctx, input: RundownItemInput[], current: RundownItem[]): RundownItem[] {
  const unused = new Set(current.map(({ _id }) => _id));
  const times = new Set(current.map(timeKey));
  return input.map(({ _id, at, ...item }, index) => {
    if (_id !== undefined && !unused.delete(_id))
      throw invalid(`items.${index}._id`, "The rundown has no item with this id, or it is repeated");
    const stored: RundownItem = { ...item, _id: _id ?? newId(ctx.now), at: typeof at === "string" ? Date.parse(at) : at };
    if (stored.at !== null && stored.at <= ctx.now && !times.has(timeKey(stored)))
      throw invalid(`items.${index}.at`, "Must be in the future, or unchanged");
    return stored;
  });
}

async function editorOf(ctx: Ctx): Promise<RundownRow["editedBy"]> {
  const actor = await ctx.caller();
  if (actor.kind !== "developer" && actor.kind !== "account") throw forbidden("Only keys and accounts of the site can edit rundowns");
  return { kind: actor.kind, id: actor.id };
}

function rundownEvent(verb: "created" | "updated" | "deleted", row: RundownRow): NewEvent {
  return { type: `rundown.${verb}`, resource: `rundown/${row.id}`, data: toSummary({ ...row, itemCount: row.items.length }) };
}
