import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { Graphic } from "./schemas.ts";

const ids = { graphic: "5eed0000000000000e00f0f1" };

export const events = eventsOf(
  { services: ["overlay-service-v1"], ids, samples: [[/^graphic\./, { _id: ids.graphic }]] },
  {
    "graphic.created": { data: Graphic, description: "An OGraf graphic was uploaded" },
    "graphic.deleted": { data: Graphic, description: "An OGraf graphic was deleted" },
  },
);
