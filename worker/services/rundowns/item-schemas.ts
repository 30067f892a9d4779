import { z } from "@hono/zod-openapi";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { BroadcastInput } from "#worker/services/overlays/schemas.ts";

/** What an overlay is shown with; the channel is the rundown's. */
const { duration, variables, timecode, tagId, segment, priority, broadcastPayload } = BroadcastInput.shape;

export const RundownBroadcast = z
  .strictObject({ duration, variables, timecode, tagId, segment, priority, broadcastPayload })
  .refine((broadcast) => broadcast.tagId === undefined || broadcast.segment === undefined, {
    path: ["segment"],
    message: "Not together with tagId",
  })
  .openapi("RundownBroadcast", { example: { duration: 8, variables: { scorer: "Ada Moreno", minute: 17 } } });

const Name = z.string().trim().min(1).max(200).openapi({ example: "Goal, home" });
const Notes = z.string().max(5000).describe("For the operators").openapi({ example: "Wait for the replay" });
const OnTime = "When it is taken without an operator, within a second. A time that passes while the rundown is held takes nothing";

const kinds = {
  broadcast: {
    kind: z.literal("broadcast").describe("Shows an overlay on the rundown's channel"),
    overlayId: Id.openapi({ example: "5eed0000000000000000a001" }),
    broadcast: RundownBroadcast.default({ priority: 0 }),
  },
  poll: {
    kind: z.literal("poll"),
    pollId: Id,
    action: z.enum(["open", "close", "settle"]),
    correctAnswerId: Id.nullable().default(null).describe("To settle: the outcome; by default the poll's own `correctAnswerId`"),
  },
  quest: { kind: z.literal("quest"), questId: Id, action: z.enum(["open", "close"]) },
  raffle: { kind: z.literal("raffle").describe("Draws the quest's raffle"), questId: Id, winners: z.number().int().min(1).max(1000) },
  stream: { kind: z.literal("stream"), streamId: Id, action: z.enum(["start", "stop"]) },
  wait: {
    kind: z.literal("wait").describe("Takes the following item after a while, unless an operator takes one earlier or holds the rundown"),
    seconds: z.number().int().min(1).max(86_400),
  },
  note: { kind: z.literal("note").describe("Nothing is sent. `Next` skips it; taking it logs the moment") },
};

const given = {
  _id: Id.optional().describe("Of an item that the rundown has already; a new item gets its own"),
  name: Name,
  notes: Notes.default(""),
  at: z
    .union([Time, z.iso.datetime({ offset: true })])
    .nullable()
    .default(null)
    .describe(`${OnTime}. Milliseconds or ISO 8601 with an offset`),
};

export const RundownItemInput = z
  .discriminatedUnion("kind", [
    z.strictObject({ ...given, ...kinds.broadcast }),
    z.strictObject({ ...given, ...kinds.poll }),
    z.strictObject({ ...given, ...kinds.quest }),
    z.strictObject({ ...given, ...kinds.raffle }),
    z.strictObject({ ...given, ...kinds.stream }),
    z.strictObject({ ...given, ...kinds.wait }),
    z.strictObject({ ...given, ...kinds.note }),
  ])
  .openapi("RundownItemInput");

const stored = { _id: Id, name: Name, notes: Notes, at: Time.nullable().describe(OnTime) };

export const RundownItem = z
  .discriminatedUnion("kind", [
    z.object({ ...stored, ...kinds.broadcast }),
    z.object({ ...stored, ...kinds.poll }),
    z.object({ ...stored, ...kinds.quest }),
    z.object({ ...stored, ...kinds.raffle }),
    z.object({ ...stored, ...kinds.stream }),
    z.object({ ...stored, ...kinds.wait }),
    z.object({ ...stored, ...kinds.note }),
  ])
  .openapi("RundownItem");

export type RundownItemInput = z.output<typeof RundownItemInput>;
