import { ok, type Schemas } from "../../client/index.ts";
import { readAll } from "../../client/lists.ts";
import type { Session } from "../session.ts";

const AHEAD_MS = 30 * 86_400_000;

/** The calendar's events of the next 30 days, on any of these channels; without channels, all of the site's. */
export async function upcomingEvents(
  { client: { api }, environment }: Pick<Session, "client"> & { environment: Pick<Session["environment"], "now"> },
  channelIds: readonly string[],
): Promise<Schemas["CalendarEvent"][]> {
  const now = Math.round(environment.now());
  const [channelId, ...others] = channelIds;
  const query = {
    startTimestamp: String(now),
    endTimestamp: String(now + AHEAD_MS),
    ...(channelId !== undefined && others.length === 0 && { channelId }),
  };
  const events = await readAll((page) => ok(api.GET("/event/v1/event-calendar", { params: { query: { ...query, ...page } } })));
  return events.filter((event) => channelIds.length === 0 || (event.channelId !== null && channelIds.includes(event.channelId)));
}
