import { and, asc, eq, gte } from "drizzle-orm";
import ical, { escape, type ICalEventData } from "ical-generator";
import { type CalendarEventRow, calendarEvents, pages, sites } from "#db/schema/index.ts";
import { notFound } from "#worker/lib/errors.ts";
import { MAX_DURATION } from "./schemas.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";

const DAY = 86_400_000;
/** How long an event stays in the feed after its end, and how many events it has at most. */
const PAST = 30 * DAY;
const MOST = 1000;
const REFRESH_SECONDS = 900;

/**
 * The calendar of the site or of one channel as iCalendar (RFC 5545). Times are in UTC, which needs no time zone definitions and
 * is right on both sides of every clock change; `origin` makes the paths of uploaded pictures absolute.
 */
export async function calendarFeed(ctx: Ctx, channelId: string | undefined, origin: string): Promise<string> {
  const [events, [site], [channel]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(calendarEvents)
      .where(
        and(
          eq(calendarEvents.siteId, ctx.siteId),
          gte(calendarEvents.startsAt, ctx.now - PAST - MAX_DURATION),
          gte(calendarEvents.endsAt, ctx.now - PAST),
          channelId === undefined ? undefined : eq(calendarEvents.channelId, channelId),
        ),
      )
      .orderBy(asc(calendarEvents.startsAt), asc(calendarEvents.id))
      .limit(MOST),
    ctx.db.select({ name: sites.name }).from(sites).where(eq(sites.id, ctx.siteId)),
    ctx.db
      .select({ data: pages.data })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId ?? ""), eq(pages.type, "channel"))),
  ]);
  if (channelId !== undefined && !channel) throw notFound("Channel not found");
  const name = [site?.name, channel?.data.name].filter((part) => part !== undefined).join(": ");
  const calendar = ical({
    // The library writes a name as it is given.
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
    // A stamp of the answer's own would make every answer another one.
    stamp: new Date(modified),
    created: new Date(created),
    lastModified: new Date(modified),
    sequence: version - 1,
    start: new Date(startsAt),
    end: endsAt > startsAt ? new Date(endsAt) : null,
    summary: oneLine(title),
    description: plain(description),
    categories: categories.map((category) => ({ name: oneLine(category.label) })),
    // One picture that leads nowhere takes nobody's calendar away.
    attachments: image?.show && URL.canParse(image.src, origin) ? [new URL(image.src, origin).href] : [],
  };
}

/** Without the control characters that RFC 5545 has no form for. */
function plain(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "");
}

function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, " ");
}
