import { z } from "@hono/zod-openapi";
import type { CalendarEventRow } from "#db/schema/calendar.ts";
import { Id, ImageUrl, orNull, Tracked } from "#worker/lib/schemas/common.ts";
import { isTimeZone, TIMESTAMP_OR_DATE } from "./time-range.ts";
import { pickFields } from "#worker/services/core/fields.ts";

const DAY = 86_400_000;
/** The maximum length of an event; a range query never has to look further back. */
export const MAX_DURATION = 366 * DAY;

// Up to the end of the year 9999, the last that calendars can represent.
const Moment = z.number().int().min(0).max(253_402_300_799_999).describe("Milliseconds since 1970 UTC");

const TimeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, "Must be an IANA time zone name")
  .describe("IANA name")
  .openapi({ example: "Europe/London" });

const ThirdPartyEventId = z.string().min(1).max(200).describe("The event's id in the source system; unique per site");

export const CalendarCategory = z
  .strictObject({ title: z.string().trim().min(1).max(100), label: z.string().trim().min(1).max(100) })
  .openapi("CalendarCategory", { example: { title: "Competition", label: "League" } });

export const CalendarDateInput = z
  .strictObject({
    startTimestamp: Moment,
    endTimestamp: Moment.nullish(),
    timeZone: TimeZone.default("UTC"),
    useEndTime: z.boolean().optional().describe("Whether endTimestamp applies; true by default if it is given"),
  })
  .superRefine(({ startTimestamp, endTimestamp = null, useEndTime = endTimestamp !== null }, issues) => {
    const reject = (message: string) => issues.addIssue({ code: "custom", path: ["endTimestamp"], message });
    if (!useEndTime) return;
    if (endTimestamp === null) reject("Required with useEndTime");
    else if (endTimestamp <= startTimestamp) reject("Must be after startTimestamp");
    else if (endTimestamp - startTimestamp > MAX_DURATION) reject("At most 366 days after startTimestamp");
  })
  .openapi("CalendarDateInput", {
    example: { startTimestamp: 1795273200000, endTimestamp: 1795280400000, timeZone: "Europe/London", useEndTime: true },
  });

export const CalendarImage = z.strictObject({ show: z.boolean().default(true), src: ImageUrl }).openapi("CalendarImage");

const editable = {
  titleRaw: z.string().trim().min(1).max(200).openapi({ example: "Harbour City v Old Dock" }),
  descriptionRaw: z.string().max(10_000).default(""),
  categories: z.array(CalendarCategory).max(20).default([]),
  date: CalendarDateInput,
  image: orNull(CalendarImage).optional(),
  channelId: Id.nullish().describe("The channel that shows the event; null for an event of the whole site"),
  siteId: Id.optional().describe("Must equal Tifo-Client-Id"),
};

const example = {
  titleRaw: "Harbour City v Old Dock",
  descriptionRaw: "The derby, live from Quayside Park",
  categories: [{ title: "Competition", label: "League" }],
  date: { startTimestamp: 1795273200000, endTimestamp: 1795280400000, timeZone: "Europe/London", useEndTime: true },
  channelId: "5eed0000000000000000c001",
};

export const CalendarEventInput = z
  .strictObject({ ...editable, thirdPartyEventId: ThirdPartyEventId.nullish() })
  .openapi("CalendarEventInput", { example });

export const ThirdPartyEventInput = z
  .strictObject({ ...editable, thirdPartyEventId: ThirdPartyEventId })
  .openapi("ThirdPartyEventInput", { example: { ...example, thirdPartyEventId: "fixture-2026-1121" } });

export const CalendarEvent = z
  .object({
    _id: Id,
    siteId: Id,
    channelId: Id.nullable(),
    titleRaw: z.string(),
    descriptionRaw: z.string(),
    categories: z.array(CalendarCategory),
    date: z
      .object({ startTimestamp: Moment, endTimestamp: Moment.nullable(), timeZone: z.string(), useEndTime: z.boolean() })
      .openapi("CalendarDate"),
    image: orNull(CalendarImage),
    thirdPartyEventId: z.string().nullable(),
    ...Tracked,
  })
  .openapi("CalendarEvent");

const TimestampOrDate = z.string().regex(TIMESTAMP_OR_DATE, "Milliseconds since 1970 UTC, or a date such as 2026-11-21");

/** Filters of the event list: a time range, and which of its events to return. */
export const CalendarFilters = {
  startTimestamp: TimestampOrDate.describe(
    "Start of the range, inclusive: milliseconds since 1970 UTC, or a date (start of that day in `timeZone`)",
  ).openapi({
    example: "1795219200000",
  }),
  endTimestamp: TimestampOrDate.describe(
    "End of the range: milliseconds since 1970 UTC, exclusive, or a date (end of that day in `timeZone`)",
  ).openapi({
    example: "1795305600000",
  }),
  timeZone: TimeZone.default("UTC").describe("IANA name of the time zone in which dates are interpreted"),
  category: z.string().max(100).optional().describe("Only events with a category of this title"),
  label: z.string().max(100).optional().describe("Only events with this label; together with `category`, with this label in that category"),
  channelId: Id.optional(),
  thirdPartyEventId: z.string().max(200).optional(),
};

export const CategoryParam = z.object({ categoryTitle: z.string().min(1).max(100).openapi({ example: "Competition" }) });
export const FeedQuery = z.strictObject({
  channelId: Id.optional().describe("Only the events of this channel"),
  clientId: Id.optional().describe("The site's id, for clients that can't set a header"),
});

const events = z.number().int().describe("Number of events");
export const CategoryCount = z.object({ title: z.string(), events }).openapi("CategoryCount");
export const LabelCount = z.object({ label: z.string(), events }).openapi("LabelCount");
export const CalendarFilter = z.object({ title: z.string(), labels: z.array(z.string()) }).openapi("CalendarFilter");

export type CalendarEventInput = z.output<typeof CalendarEventInput>;
export type ThirdPartyEventInput = z.output<typeof ThirdPartyEventInput>;

/** The fields of a calendar event, each with its column. */
export const CALENDAR_EVENT_FIELDS = {
  _id: "id",
  siteId: "siteId",
  channelId: "channelId",
  titleRaw: "title",
  descriptionRaw: "description",
  categories: "categories",
  date: "date",
  image: "image",
  thirdPartyEventId: "thirdPartyEventId",
  created: "created",
  modified: "modified",
} as const satisfies Record<string, keyof CalendarEventRow>;

export function toCalendarEvent(row: CalendarEventRow) {
  return pickFields(row, CALENDAR_EVENT_FIELDS) satisfies z.output<typeof CalendarEvent>;
}
