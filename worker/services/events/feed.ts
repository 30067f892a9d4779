import { and, asc, eq, gte } from "drizzle-orm";
import ical, { escape, type ICalEventData } from "ical-generator";
import { type CalendarEventRow, calendarEvents } from "#db/schema/calendar.ts";
import { pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import { notFound } from "#worker/lib/errors.ts";
import { MAX_DURATION } from "./schemas.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";

const DAY = 86_400_000;
/** How long an event stays in the feed after it ends, and the maximum number of events in a feed. */
const RETENTION = 30 * DAY;
const MAX_EVENTS = 1000;
const REFRESH_SECONDS = 900;

/**
 * Renders the calendar of the site or of one channel as iCalendar (RFC 5545). UTC needs no time zone definitions and is
 * unambiguous across clock changes; `origin` makes the paths of uploaded images absolute.
 */
export async function calendarFeed(ctx: Ctx, channelId: string | undefined, origin: string): Promise<string> {
  const [events, [site], [channel]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(calendarEvents)
      .where(
        and(
          eq(calendarEvents.siteId, ctx.siteId),
          gte(calendarEvents.startsAt, ctx.now - RETENTION - MAX_DURATION),
          gte(calendarEvents.endsAt, ctx.now - RETENTION),
          channelId === undefined ? undefined : eq(calendarEvents.channelId, channelId),
        ),
      )
      .orderBy(asc(calendarEvents.startsAt), asc(calendarEvents.id))
      .limit(MAX_EVENTS),
    ctx.db.select({ name: sites.name }).from(sites).where(eq(sites.id, ctx.siteId)),
    ctx.db
      .select({ data: pages.data })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId ?? ""), eq(pages.type, "channel"))),
  ]);
  if (channelId !== undefined && !channel) throw notFound("Channel not found");
  const name = [site?.name, channel?.data.name].filter((part) => part !== undefined).join(": ");
  const calendar = ical({
    // The library doesn't escape the name.
    name: escape(oneLine(name), false),
    prodId: { company: "Tifo", product: "Event calendar", language: "EN" },
    ttl: REFRESH_SECONDS,
  });
  for (const event of events) calendar.createEvent(entryOf(event, origin));
  return calendar.toString();
}

function entryOf(event: CalendarEventRow, origin: string): ICalEventData {
  const { id, title, description, categories, startsAt, endsAt, image, created, modified, version } = event;
  return {
    id: `${id}@tifo`,
    // A stamp of the current time would make every response different and defeat the ETag.
    stamp: new Date(modified),
    created: new Date(created),
    lastModified: new Date(modified),
    sequence: version - 1,
    start: new Date(startsAt),
    end: endsAt > startsAt ? new Date(endsAt) : null,
    summary: oneLine(title),
    description: plain(description),
    categories: categories.map((category) => ({ name: oneLine(category.label) })),
    // An invalid image URL must not break the whole calendar.
    attachments: image?.show && URL.canParse(image.src, origin) ? [new URL(image.src, origin).href] : [],
  };
}

/** Removes the control characters that RFC 5545 can't represent. */
function plain(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "");
}

function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, " ");
}
