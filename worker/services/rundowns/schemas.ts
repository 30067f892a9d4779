import { z } from "@hono/zod-openapi";
import { RUNDOWN_ITEM_KINDS, TAKE_ACTIONS, TAKE_STATES, TAKE_TRIGGERS } from "#db/enums.ts";
import type { RundownRow, TakeRow } from "#db/schema/rundowns.ts";
import { OverlayShow } from "#worker/durable-objects/relay/relay.protocol.ts";
import { Id, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { Variables } from "#worker/services/overlays/schemas.ts";
import { RundownItem, RundownItemInput } from "./item-schemas.ts";

/** With their broadcasts, still within the size of a body. */
const MAX_ITEMS = 200;

const Name = z.string().trim().min(1).max(200).openapi({ example: "Derby, first half" });
const Generation = z.number().int().min(0).describe("The number of takes so far");

const editable = { name: Name, items: z.array(RundownItemInput).max(MAX_ITEMS) };

const EXAMPLE_ITEMS = [
  { kind: "note" as const, name: "Kick-off" },
  { kind: "broadcast" as const, name: "Goal, home", overlayId: "5eed0000000000000000a001", broadcast: { variables: { minute: 17 } } },
  { kind: "wait" as const, name: "Let it breathe", seconds: 10 },
];

export const RundownInput = z.strictObject({ channelId: Id, ...editable }).openapi("RundownInput", {
  example: { channelId: "5eed0000000000000000c001", name: "Derby, first half", items: EXAMPLE_ITEMS },
});

export const RundownReplacement = z.strictObject(editable).openapi("RundownReplacement", {
  example: { name: "Derby, second half", items: EXAMPLE_ITEMS },
});

export const RundownPatch = z
  .strictObject({
    armedItemId: Id.nullable().optional().describe("The item that is taken next; null for the one that follows"),
    held: z
      .boolean()
      .optional()
      .describe("`true`: nothing is taken without an operator, and a running wait ends. `false`: times that are still to come apply again"),
  })
  .openapi("RundownPatch", { example: { held: true } });

const Credential = z.object({ kind: z.enum(["developer", "account"]), id: Id });
const Operator = Credential.extend({ name: z.string().nullable().describe("Of the account or key; null if it was deleted") });

const takeFields = {
  _id: Id.describe("For a broadcast, also its broadcastId"),
  rundownId: Id,
  channelId: Id,
  generation: Generation.describe("The generation of the rundown that it was taken in; the next one is one higher"),
  itemId: Id,
  kind: z.enum(RUNDOWN_ITEM_KINDS),
  action: z.enum(TAKE_ACTIONS).nullable().describe("What was done with the poll, quest or stream"),
  name: z.string().describe("The item's name at that time"),
  targetId: Id.nullable().describe("The overlay, poll, quest or stream"),
  trigger: z.enum(TAKE_TRIGGERS).describe("`time`: its own time; `wait`: a wait before it"),
  by: Operator.nullable().describe("Null without an operator"),
  takenAt: Time,
  state: z
    .enum(TAKE_STATES)
    .describe("`pending`: the stream's provider hasn't responded yet. `missed`: the server was down until more than five minutes later"),
  message: z.string().nullable().describe("Why it failed or was missed, or that there was nothing left to do"),
  endsAt: Time.nullable().describe("When the broadcast ends, or would have ended"),
  clearedAt: Time.nullable(),
  clearedBy: Operator.nullable(),
};

export const Take = z.object(takeFields).openapi("RundownTake");

/** Without names, which are personal data. */
export const TakeEvent = z.object({ ...takeFields, by: Credential.nullable(), clearedBy: Credential.nullable() });

const PresentOperator = Operator.extend({ seenAt: Time, isCaller: z.boolean() });

export const Operators = z
  .object({ operators: z.array(PresentOperator).describe("Who has the rundown open, by their last sign of life in the past 30 seconds") })
  .openapi("RundownOperators");

const summary = {
  _id: Id,
  siteId: Id,
  channelId: Id,
  name: Name,
  generation: Generation,
  held: z.boolean(),
  ...Tracked,
};

const summarised = { ...summary, itemCount: z.number().int() };

export const RundownSummary = z.object(summarised).openapi("RundownSummary");

export const Rundown = z
  .object({
    ...summarised,
    items: z.array(RundownItem),
    lastItemId: Id.nullable().describe("The item that was taken last"),
    armedItemId: Id.nullable(),
    nextItemId: Id.nullable().describe(
      "What a take without `itemId` takes: the armed item, or the one that follows the last, except notes",
    ),
    waitsUntil: Time.nullable().describe("When a running wait takes the following item"),
    onAir: z.array(Take).describe("Its broadcasts that viewers see now"),
    operators: Operators.shape.operators,
    brokenItemIds: z.array(Id).describe("The items whose overlay, poll, quest or stream no longer exists: a take of them is rejected"),
  })
  .openapi("Rundown");

export const TakeInput = z
  .strictObject({
    itemId: Id.optional().describe("By default, the armed item or the one that follows the last"),
    generation: Generation.optional().describe(
      "The generation that the operator sees. Each has one take: whoever comes second gets the first's take, and nothing happens twice. Without it, the current one",
    ),
    variables: Variables.optional().describe("For a broadcast: override the item's own"),
  })
  .openapi("TakeInput", { example: { generation: 0 } });

export const RundownPreviewInput = z
  .strictObject({
    itemId: Id.optional().describe("By default, the item that is taken next"),
    variables: Variables.optional().describe("For a broadcast: override the item's own"),
  })
  .openapi("RundownPreviewInput", { example: {} });

export const RundownPreview = z
  .object({
    itemId: Id,
    overlay: OverlayShow.omit({ type: true, seq: true, upTo: true })
      .nullable()
      .describe("As in `overlay.show`, if it were taken now; null for an item that isn't a broadcast"),
  })
  .openapi("RundownPreview");

export const RundownClearInput = z
  .strictObject({
    itemId: Id.optional().describe("Only the broadcasts of this item"),
    takeId: Id.optional().describe("Only the broadcast of this take"),
    all: z.boolean().default(false).describe("Everything on the channel, whoever has broadcast it; not together with the others"),
  })
  .refine(({ itemId, takeId, all }) => [itemId !== undefined, takeId !== undefined, all].filter(Boolean).length <= 1, {
    path: ["all"],
    message: "Give one of itemId, takeId and all",
  })
  .openapi("RundownClearInput", { example: { all: false } });

export const RundownCleared = z
  .object({ broadcastIds: z.array(Id).describe("What was on air and isn't any more") })
  .openapi("RundownCleared");

export const ClearedEvent = z.object({
  rundownId: Id,
  channelId: Id,
  all: z.boolean().describe("Everything on the channel"),
  broadcastIds: z.array(Id),
  by: Credential,
});

export const StateEvent = z.object({ rundownId: Id, channelId: Id, armedItemId: Id.nullable(), held: z.boolean() });

export const PresenceInput = z
  .strictObject({ open: z.boolean().default(true).describe("`false` when the operator leaves") })
  .openapi("RundownPresenceInput", { example: { open: true } });

const Count = z.number().int();
const Delay = z.number().nullable();

export const AsRunEntry = Take.extend({
  receipt: z
    .object({
      sockets: Count,
      sent: Count,
      acknowledged: Count,
      seen: Count.nullable(),
      late: Count,
      missing: Count,
      delay: z.object({ p50: Delay, p95: Delay, p99: Delay }),
    })
    .nullable()
    .describe("Of a broadcast, as in its BroadcastReceipt; null if its channel didn't respond or no longer has it"),
  isFinal: z.boolean().describe("Whether the receipt no longer changes: a minute after the broadcast has ended"),
}).openapi("AsRunEntry");

export const AsRunList = listOf(AsRunEntry).openapi("AsRunList");

export const RundownQuery = listQuery(["created", "name"], { channelId: Id.optional() });

export const AsRunQuery = listQuery(["takenAt"], {
  kind: z.enum(RUNDOWN_ITEM_KINDS).optional(),
  format: z.enum(["json", "csv"]).default("json").describe("`csv`: all entries that match, without pages"),
});

export type RundownInput = z.output<typeof RundownInput>;
export type RundownReplacement = z.output<typeof RundownReplacement>;
export type RundownPatch = z.output<typeof RundownPatch>;
export type RundownPreviewInput = z.output<typeof RundownPreviewInput>;
export type RundownPreview = z.output<typeof RundownPreview>;
export type TakeInput = z.output<typeof TakeInput>;
export type RundownClearInput = z.output<typeof RundownClearInput>;
export type RundownQuery = z.output<typeof RundownQuery>;
export type AsRunQuery = z.output<typeof AsRunQuery>;
export type AsRunEntry = z.output<typeof AsRunEntry>;
export type PresentOperator = z.output<typeof PresentOperator>;

/** A take with the names of who took and cleared it. */
export type NamedTake = TakeRow & { takenByName: string | null; clearedByName: string | null };

/** What a list shows of a rundown. */
export type SummarisedRundown = Pick<
  RundownRow,
  "id" | "siteId" | "channelId" | "name" | "generation" | "held" | "created" | "modified"
> & { itemCount: number };

export function toSummary(row: SummarisedRundown) {
  const { id, siteId, channelId, name, generation, held, itemCount, created, modified } = row;
  return { _id: id, siteId, channelId, name, generation, held, itemCount, created, modified } satisfies z.output<typeof RundownSummary>;
}

export function toTake(row: NamedTake) {
  return {
    ...toTakeEvent(row),
    by: row.takenBy && { kind: row.takenBy.kind, id: row.takenBy.id, name: row.takenByName },
    clearedBy: row.clearedBy && { kind: row.clearedBy.kind, id: row.clearedBy.id, name: row.clearedByName },
  } satisfies z.output<typeof Take>;
}

export function toTakeEvent(row: TakeRow) {
  return {
    _id: row.id,
    rundownId: row.rundownId,
    channelId: row.channelId,
    generation: row.generation,
    itemId: row.itemId,
    kind: row.kind,
    action: row.action,
    name: row.name,
    targetId: row.targetId,
    trigger: row.trigger,
    by: row.takenBy,
    takenAt: row.takenAt,
    state: row.state,
    message: row.message,
    endsAt: row.endsAt,
    clearedAt: row.clearedAt,
    clearedBy: row.clearedBy,
  } satisfies z.output<typeof TakeEvent>;
}

export function toStateEvent({ id, channelId, armedItemId, held }: RundownRow) {
  return { rundownId: id, channelId, armedItemId, held } satisfies z.output<typeof StateEvent>;
}
