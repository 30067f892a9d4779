import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { ClearedEvent, RundownSummary, StateEvent, TakeEvent } from "./schemas.ts";

const ids = {
  rundown: "5eed0000000000000e00ad01",
  item: "5eed0000000000000e00ad02",
  take: "5eed0000000000000e00ad03",
  key: "5eed0000000000000e00ad04",
};
const BY = { kind: "account", id: SAMPLE_IDS.admin };

export const events = eventsOf(
  {
    services: ["rundown-service-v1"],
    ids,
    samples: [
      [
        /^rundown\.(created|updated|deleted)$/,
        { _id: ids.rundown, channelId: SAMPLE_IDS.page, name: "Derby, first half", generation: 0, held: false, itemCount: 24 },
      ],
      [
        /^rundown\.(taken|completed)$/,
        {
          _id: ids.take,
          rundownId: ids.rundown,
          channelId: SAMPLE_IDS.page,
          generation: 7,
          itemId: ids.item,
          kind: "broadcast",
          action: null,
          name: "Goal, home",
          targetId: SAMPLE_IDS.overlay,
          trigger: "operator",
          by: BY,
          takenAt: SAMPLE_MOMENT,
          state: "done",
          message: null,
          endsAt: null,
          clearedAt: null,
          clearedBy: null,
        },
      ],
      [/^rundown\.completed$/, { kind: "stream", action: "start", name: "Go live", targetId: SAMPLE_IDS.stream }],
      [/^rundown\.cleared$/, { rundownId: ids.rundown, channelId: SAMPLE_IDS.page, all: false, broadcastIds: [ids.take], by: BY }],
      [/^rundown\.stateChanged$/, { rundownId: ids.rundown, channelId: SAMPLE_IDS.page, armedItemId: ids.item, held: false }],
    ],
  },
  {
    "rundown.cleared": {
      data: ClearedEvent,
      description: "An operator cleared broadcasts",
      resource: "rundown/rundownId",
    },
    "rundown.completed": {
      data: TakeEvent,
      description: "A taken stream was started or stopped, or its provider failed; see `state`",
      resource: "rundown/rundownId",
    },
    "rundown.created": { data: RundownSummary, description: "A rundown was created" },
    "rundown.deleted": { data: RundownSummary, description: "A rundown was deleted, with its as-run log" },
    "rundown.stateChanged": {
      data: StateEvent,
      description: "An item was armed, or the rundown was held or released",
      resource: "rundown/rundownId",
    },
    "rundown.taken": {
      data: TakeEvent,
      description: "An item of a rundown was taken, or failed or was missed at its time",
      resource: "rundown/rundownId",
    },
    "rundown.updated": { data: RundownSummary, description: "A rundown's name or items were replaced" },
  },
);
