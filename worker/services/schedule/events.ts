import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { MINUTE, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { ScheduledAction } from "./schemas.ts";

const ids = { action: "5eed0000000000000e00c501", key: "5eed0000000000000e00ca01" };

export const events = eventsOf(
  {
    services: ["schedule-service-v1"],
    ids,
    samples: [
      [
        /^schedule\./,
        {
          _id: ids.action,
          kind: "overlay.broadcast",
          targetId: SAMPLE_IDS.overlay,
          name: "Goal",
          channelId: SAMPLE_IDS.page,
          broadcast: { channelId: SAMPLE_IDS.page, duration: 8, priority: 0 },
          dueAt: SAMPLE_MOMENT + 5 * MINUTE,
          state: "pending",
          source: "request",
          scheduledBy: { kind: "developer", id: ids.key },
          message: null,
          endedAt: null,
        },
      ],
      [/^schedule\.cancelled$/, { state: "cancelled", endedAt: SAMPLE_MOMENT }],
      [/^schedule\.completed$/, { state: "done", endedAt: SAMPLE_MOMENT + 5 * MINUTE }],
      [/^schedule\.failed$/, { state: "failed", message: "Overlay Not Found", endedAt: SAMPLE_MOMENT + 5 * MINUTE }],
      [
        /^schedule\.missed$/,
        {
          state: "missed",
          message: "The server was unavailable at that time, and for 600 s after it",
          endedAt: SAMPLE_MOMENT + 15 * MINUTE,
        },
      ],
    ],
  },
  {
    "schedule.cancelled": { data: ScheduledAction, description: "A scheduled action was cancelled" },
    "schedule.completed": { data: ScheduledAction, description: "A scheduled action was carried out" },
    "schedule.created": { data: ScheduledAction, description: "An action was scheduled" },
    "schedule.failed": { data: ScheduledAction, description: "A scheduled action could not be carried out; see `message`" },
    "schedule.missed": { data: ScheduledAction, description: "A scheduled action was too late to be carried out; see `message`" },
  },
);
