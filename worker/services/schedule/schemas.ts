import { z } from "@hono/zod-openapi";
import { SCHEDULED_KINDS, SCHEDULED_SOURCES, SCHEDULED_STATES } from "#db/enums.ts";
import type { ScheduledActionRow } from "#db/schema/schedule.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { BroadcastInput } from "#worker/services/overlays/schemas.ts";
import { Id, orNull, Time, Tracked } from "#worker/lib/schemas/common.ts";

const YEAR_S = 366 * 86_400;

const Kind = z
  .enum(SCHEDULED_KINDS)
  .describe(
    "`overlay.broadcast` shows an overlay; `poll.open` and `poll.close` start and end the responses to a poll; `quest.open` and `quest.close` set the quest's timeMinimum or timeMaximum to that moment",
  );

export const ScheduleInput = z
  .strictObject({
    kind: Kind,
    targetId: Id.describe("The overlay, poll or quest").openapi({ example: "5eed0000000000000000a001" }),
    at: z
      .union([Time, z.iso.datetime({ offset: true })])
      .optional()
      .describe("When: milliseconds since 1970 UTC, or an ISO 8601 time with its offset, in the future; give either `at` or `in`")
      .openapi({ example: "2030-06-01T20:15:00+02:00" }),
    in: z.number().int().min(0).max(YEAR_S).optional().describe("When: seconds from now"),
    broadcast: BroadcastInput.optional().describe("For `overlay.broadcast`: what would be the body of the broadcast"),
  })
  .superRefine(({ kind, at, in: seconds, broadcast }, issues) => {
    if ((at === undefined) === (seconds === undefined)) issues.addIssue({ code: "custom", path: ["at"], message: "Give either at or in" });
    if (broadcast !== undefined && kind !== "overlay.broadcast")
      issues.addIssue({ code: "custom", path: ["broadcast"], message: "Only allowed with overlay.broadcast" });
  })
  .openapi("ScheduleInput", {
    example: {
      kind: "overlay.broadcast",
      targetId: "5eed0000000000000000a001",
      in: 300,
      broadcast: { channelId: "5eed0000000000000000c001", variables: { scorer: "Ada Moreno", minute: 17 } },
    },
  });

export const ScheduledAction = z
  .object({
    _id: Id.describe("For a broadcast, also the broadcastId that it will have"),
    siteId: Id,
    kind: Kind,
    targetId: Id,
    name: z.string().describe("The target's name when it was scheduled"),
    channelId: Id.nullable().describe("The channel, for a broadcast or quest of a single one"),
    broadcast: orNull(BroadcastInput),
    dueAt: Time,
    state: z
      .enum(SCHEDULED_STATES)
      .describe(
        "`missed`: the server was down, and the time had passed by more than five minutes; nothing was shown or opened. What closes is always done, however late",
      ),
    source: z
      .enum(SCHEDULED_SOURCES)
      .describe(
        "`request`: scheduled by this API; `poll`, `quest`: follows from the poll's locksAt, or the quest's timeMinimum and timeMaximum",
      ),
    scheduledBy: z
      .object({ kind: z.enum(["developer", "account"]), id: Id })
      .nullable()
      .describe("The key or account whose rights apply when it is due; null for what follows from a poll or quest"),
    message: z.string().nullable().describe("Why it failed, was missed or was cancelled, or that there was nothing left to do"),
    endedAt: Time.nullable(),
    ...Tracked,
  })
  .openapi("ScheduledAction");

export const ScheduleQuery = listQuery(["dueAt"], {
  state: z.enum(SCHEDULED_STATES).optional(),
  kind: z.enum(SCHEDULED_KINDS).optional(),
  targetId: Id.optional(),
  channelId: Id.optional(),
});

export type ScheduleInput = z.output<typeof ScheduleInput>;
export type ScheduleQuery = z.output<typeof ScheduleQuery>;

export function toScheduledAction(row: ScheduledActionRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    kind: row.kind,
    targetId: row.targetId,
    name: row.name,
    channelId: row.channelId,
    broadcast: row.kind === "overlay.broadcast" ? BroadcastInput.parse(row.payload) : null,
    dueAt: row.dueAt,
    state: row.state,
    source: row.source,
    scheduledBy: row.scheduledBy,
    message: row.message,
    endedAt: row.endedAt,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof ScheduledAction>;
}

/** The time of a request (ms). */
export function dueAtOf({ at, in: seconds }: Pick<ScheduleInput, "at" | "in">, now: number): number {
  if (seconds !== undefined) return now + seconds * 1000;
  return typeof at === "string" ? Date.parse(at) : (at ?? now);
}
