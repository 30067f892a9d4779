import type { calendarEvents } from "#db/schema/calendar.ts";
import { CHANNEL_1, CHANNEL_2, CHANNEL_B, DAY, HOUR, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { CREST_A } from "./media.ts";

type EventInsert = typeof calendarEvents.$inferInsert;

const LEAGUE = { title: "Competition", label: "League" };
const CUP = { title: "Competition", label: "Cup" };
const MEN = { title: "Team", label: "Men" };
const WOMEN = { title: "Team", label: "Women" };
const CLUB = { title: "Occasion", label: "Club" };

/** Fixtures and other events. */
export function demoEvents(): EventInsert[] {
  return [
    {
      ...event("d001", SITE_A, "Harbour City v Old Dock", KICK_OFF, 2 * HOUR),
      description: "The derby, live from Quayside Park.",
      categories: [LEAGUE, MEN],
      channelId: CHANNEL_1,
      image: { show: true, src: `/media/v1/${CREST_A}` },
      thirdPartyEventId: "fixture-2026-1121",
    },
    {
      ...event("d002", SITE_A, "Warm-up from the tunnel", KICK_OFF - HOUR, 0),
      description: "Boots, nerves and the team sheets.",
      categories: [CLUB],
      channelId: CHANNEL_2,
    },
    {
      ...event("d003", SITE_A, "Harbour City Women v Northgate", KICK_OFF + 8 * DAY, 2 * HOUR),
      categories: [CUP, WOMEN],
      channelId: CHANNEL_1,
      thirdPartyEventId: "fixture-2026-1129",
    },
    { ...event("d004", SITE_A, "Supporters' evening", KICK_OFF + 12 * DAY + 4 * HOUR, 3 * HOUR), categories: [CLUB] },
    { ...event("d101", SITE_B, "Harbour City away", KICK_OFF, 2 * HOUR), categories: [LEAGUE], channelId: CHANNEL_B },
  ];
}

/** An event of length 0 has no end. */
function event(number: string, siteId: string, title: string, startsAt: number, length: number): EventInsert & { description: string } {
  const endsAt = startsAt + length;
  const useEndTime = length > 0;
  const date = { startTimestamp: startsAt, endTimestamp: useEndTime ? endsAt : null, timeZone: "Europe/London", useEndTime };
  return { ...stamps, id: `5eed0000000000000000${number}`, siteId, title, description: "", categories: [], date, startsAt, endsAt };
}
