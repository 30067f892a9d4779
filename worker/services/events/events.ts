import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, MINUTE, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { CalendarEvent } from "./schemas.ts";

const ids = { calendar: "5eed0000000000000e00d101" };

export const events = eventsOf(
  {
    services: ["event-service-v1"],
    ids,
    samples: [
      [
        /^event\./,
        {
          _id: ids.calendar,
          titleRaw: "Harbour City v Old Dock",
          descriptionRaw: "Round 12 of the league.",
          categories: [{ title: "Competition", label: "League" }],
          thirdPartyEventId: "league-2026-12-7",
          date: {
            startTimestamp: SAMPLE_MOMENT + DAY,
            endTimestamp: SAMPLE_MOMENT + DAY + 120 * MINUTE,
            timeZone: "Europe/London",
            useEndTime: true,
          },
          image: { show: true, src: "https://demo.example/derby.jpg" },
        },
      ],
    ],
  },
  {
    "event.created": { data: CalendarEvent, description: "A calendar event was created" },
    "event.deleted": { data: CalendarEvent, description: "A calendar event was deleted" },
    "event.updated": { data: CalendarEvent, description: "A calendar event was updated" },
  },
);
