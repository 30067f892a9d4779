import { and, eq, gt, gte, lt, or, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { calendarCategories, type CalendarEventRow, calendarEvents } from "#db/schema/calendar.ts";
import { pages } from "#db/schema/pages.ts";
import { Failure, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { type TimeRange, timeRange } from "./time-range.ts";
import { type CalendarEventInput, MAX_DURATION, type ThirdPartyEventInput, toCalendarEvent } from "./schemas.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  requirePage,
  whereVersion,
} from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { guardReferences, newReferences, type Reference, referencesExist } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const eventList = tableList<CalendarEventRow>({
  table: calendarEvents,
  rows: (db, slice) => sliceOf(db.select().from(calendarEvents).$dynamic(), slice),
  sort: {
    startTimestamp: calendarEvents.startsAt,
    titleRaw: calendarEvents.title,
    created: calendarEvents.created,
    modified: calendarEvents.modified,
  },
  defaultDirection: 1,
  search: { titleRaw: calendarEvents.title, descriptionRaw: calendarEvents.description },
});

interface CalendarQuery extends ListQuery {
  startTimestamp: string;
  endTimestamp: string;
  timeZone: string;
  category?: string;
  label?: string;
  channelId?: string;
  thirdPartyEventId?: string;
}

/** Lists the events that overlap the range; an event without an end counts as a single moment at its start. */
export async function listCalendarEvents(ctx: Ctx, query: CalendarQuery): Promise<ListPage<CalendarEventRow>> {
  const { channelId, thirdPartyEventId } = query;
  return listRows(
    ctx,
    eventList,
    query,
    eq(calendarEvents.siteId, ctx.siteId),
    overlaps(timeRange(query)),
    hasCategory(query),
    channelId === undefined ? undefined : eq(calendarEvents.channelId, channelId),
    thirdPartyEventId === undefined ? undefined : eq(calendarEvents.thirdPartyEventId, thirdPartyEventId),
  );
}

// No event is longer than MAX_DURATION, so the index on the start bounds the scan on both sides.
function overlaps({ start, end }: TimeRange): SQL | undefined {
  const { startsAt, endsAt } = calendarEvents;
  return and(gte(startsAt, start - MAX_DURATION), lt(startsAt, end), or(gt(endsAt, start), gte(startsAt, start)));
}

function hasCategory({ category, label }: CalendarQuery): SQL | undefined {
  if (category === undefined && label === undefined) return undefined;
  const matches = and(
    eq(calendarCategories.eventId, calendarEvents.id),
    category === undefined ? undefined : eq(calendarCategories.title, category),
    label === undefined ? undefined : eq(calendarCategories.label, label),
  );
  return sql`exists (select 1 from ${calendarCategories} where ${matches})`;
}

export async function getCalendarEvent(ctx: Ctx, id: string): Promise<CalendarEventRow> {
  const [event] = await ctx.db
    .select()
    .from(calendarEvents)
    .where(ownRow(ctx, calendarEvents, id));
  if (!event) throw notFound("Event not found");
  return event;
}

export async function createCalendarEvent(ctx: Ctx, input: CalendarEventInput): Promise<CalendarEventRow> {
  requireOwnSite(ctx, input.siteId);
  await requireChannel(ctx, input.channelId);
  const event: CalendarEventRow = { ...newRow(ctx), ...columnsOf(input) };
  const changes = [ctx.db.insert(calendarEvents).values(event), ...insertCategories(ctx, event)];
  const guard = guardReferences(ctx, inEvent(event));
  const write = guard.length === 0 ? commit : commitIfUnchanged;
  await rejectTakenId(() => write(ctx, [...guard, ...changes], changeEvent(event, "created")));
  return event;
}

/** Replaces an event. A creator may change the events of their channels, but not move them to other channels. */
export async function updateCalendarEvent(ctx: Ctx, id: string, input: CalendarEventInput): Promise<CalendarEventRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getCalendarEvent(ctx, id);
  await requireChannel(ctx, input.channelId, current);
  return replaceEvent(ctx, current, input, whereVersion(ctx, calendarEvents, current));
}

// How many times an upsert retries when a concurrent one changes the row between its read and its write.
const ATTEMPTS = 5;

/** Creates the event with this third-party id, or replaces it. Of two concurrent calls, one creates and the other replaces. */
export async function upsertCalendarEvent(ctx: Ctx, input: ThirdPartyEventInput): Promise<{ event: CalendarEventRow; created: boolean }> {
  requireOwnSite(ctx, input.siteId);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const current = await findThirdParty(ctx, input.thirdPartyEventId);
      // If-Match can only match an event that exists.
      if (!current) requireMatch(ctx, { version: -1 });
      if (!current) return { event: await createCalendarEvent(ctx, input), created: true };
      await requireChannel(ctx, input.channelId, current);
      const unchanged = ctx.ifMatch ? whereVersion(ctx, calendarEvents, current) : onSameChannel(ctx, current);
      return { event: await replaceEvent(ctx, current, input, unchanged), created: false };
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof Failure) || error.code !== "conflict") throw error;
    }
  }
}

export async function deleteCalendarEvent(ctx: Ctx, id: string): Promise<void> {
  const current = await getCalendarEvent(ctx, id);
  await requirePage(ctx, current.channelId ?? "", "write");
  requireMatch(ctx, current);
  const change = deleteRow(ctx, calendarEvents, current);
  await commitIfUnchanged(ctx, [change, deleteCategories(ctx, current)], changeEvent(current, "deleted"));
}

async function findThirdParty(ctx: Ctx, thirdPartyEventId: string): Promise<CalendarEventRow | undefined> {
  const [event] = await ctx.db
    .select()
    .from(calendarEvents)
    .where(and(eq(calendarEvents.siteId, ctx.siteId), eq(calendarEvents.thirdPartyEventId, thirdPartyEventId)));
  return event;
}

/** Matches the event as long as it is still on the channel that the caller was authorized for, whatever else has changed. */
function onSameChannel(ctx: Ctx, { id, channelId }: CalendarEventRow): SQL | undefined {
  return and(ownRow(ctx, calendarEvents, id), sql`${calendarEvents.channelId} is ${channelId}`);
}

/** Overwrites the event with the input if the row still matches `unchanged`. */
async function replaceEvent(
  ctx: Ctx,
  current: CalendarEventRow,
  input: CalendarEventInput,
  unchanged: SQL | undefined,
): Promise<CalendarEventRow> {
  const next: CalendarEventRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  const change = ctx.db
    .update(calendarEvents)
    .set({ ...next, version: sql`${calendarEvents.version} + 1` })
    .where(and(unchanged, referencesExist(ctx, newReferences(inEvent(next), inEvent(current)))));
  const changes = [change, deleteCategories(ctx, next), ...insertCategories(ctx, next)];
  await rejectTakenId(() => commitIfUnchanged(ctx, changes, changeEvent(next, "updated")));
  return next;
}

/** 404 if the channel doesn't exist; 403 unless the caller manages it (the site, if there is none) and the event's previous channel. */
async function requireChannel(ctx: Ctx, channelId: string | null | undefined, previous?: CalendarEventRow): Promise<void> {
  if (channelId) {
    const [channel] = await ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel")));
    if (!channel) throw notFound("Channel not found");
  }
  await requirePage(ctx, channelId ?? "", "write");
  if (previous) await requirePage(ctx, previous.channelId ?? "", "write");
}

/** A channel that is deleted meanwhile makes the write lose; what runs again then finds it gone. */
function inEvent({ channelId }: CalendarEventRow): Reference[] {
  return channelId === null ? [] : [{ kind: "channel", path: "channelId", id: channelId }];
}

function insertCategories(ctx: Ctx, { id, categories }: CalendarEventRow): BatchItem<"sqlite">[] {
  if (categories.length === 0) return [];
  return [ctx.db.insert(calendarCategories).values(categories.map((category) => ({ ...category, eventId: id, siteId: ctx.siteId })))];
}

function deleteCategories(ctx: Ctx, { id }: CalendarEventRow): BatchItem<"sqlite"> {
  return ctx.db.delete(calendarCategories).where(and(eq(calendarCategories.siteId, ctx.siteId), eq(calendarCategories.eventId, id)));
}

function columnsOf(input: CalendarEventInput) {
  const { startTimestamp, endTimestamp = null, timeZone, useEndTime = endTimestamp !== null } = input.date;
  const distinct = new Map(input.categories.map((category) => [JSON.stringify([category.title, category.label]), category]));
  return {
    channelId: input.channelId ?? null,
    title: input.titleRaw,
    description: input.descriptionRaw,
    categories: [...distinct.values()],
    date: { startTimestamp, endTimestamp, timeZone, useEndTime },
    startsAt: startTimestamp,
    endsAt: useEndTime && endTimestamp !== null ? endTimestamp : startTimestamp,
    image: input.image ?? null,
    thirdPartyEventId: input.thirdPartyEventId ?? null,
  };
}

function changeEvent(event: CalendarEventRow, change: "created" | "updated" | "deleted"): NewEvent {
  return { type: `event.${change}`, resource: `event/${event.id}`, data: toCalendarEvent(event) };
}

function rejectTakenId(write: () => Promise<unknown>): Promise<unknown> {
  return rejectDuplicate(
    "calendar_events.site_id, calendar_events.third_party_event_id",
    "Another event on this site already has this thirdPartyEventId",
    write,
  );
}
