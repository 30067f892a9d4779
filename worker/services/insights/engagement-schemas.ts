import { z } from "@hono/zod-openapi";
import { Id, fromQuery, Time } from "#worker/lib/schemas/common.ts";
import { Currency } from "#worker/lib/schemas/money.ts";
import { SegmentSlug } from "#worker/lib/segments.ts";
import { DAY_MS, HOUR_MS } from "./hours.ts";

/** The longest range that one request may ask for. */
export const LONGEST_MS = 92 * DAY_MS;

const Moment = fromQuery(z.number().int().min(0));

function range(shortest: string, longestDays = 92) {
  return {
    from: Moment.optional().openapi({
      description: `Milliseconds since 1970 UTC; rounded down to ${shortest}. By default a day before \`to\``,
    }),
    to: Moment.optional().openapi({
      description: `Milliseconds since 1970 UTC, exclusive; now by default, at most ${longestDays} days after \`from\``,
    }),
  };
}

/** The range with its defaults. */
export function rangeOf({ from, to }: { from?: number | undefined; to?: number | undefined }, now: number): { from: number; to: number } {
  return { from: from ?? Math.max(0, (to ?? now) - DAY_MS), to: to ?? now };
}

const format = z.enum(["json", "csv"]).default("json").openapi({ description: "`csv` returns the whole range at once, with a header" });

function checkRange({ from, to }: { from?: number | undefined; to?: number | undefined }, issues: z.RefinementCtx): void {
  if (from === undefined || to === undefined) return;
  if (to <= from) issues.addIssue({ code: "custom", path: ["to"], message: "Must be later than from" });
  if (to - from > LONGEST_MS) issues.addIssue({ code: "custom", path: ["to"], message: "At most 92 days after from" });
}

export const EngagementQuery = z
  .strictObject({
    ...range("an hour"),
    by: z
      .enum(["channel", "site"])
      .default("channel")
      .openapi({ description: "One row per channel and hour, or one per hour of the site" }),
    channelId: Id.optional().openapi({ description: "Only this channel" }),
    limit: fromQuery(z.number().int().min(1).max(1000)).default(200).openapi({ description: "At most 1,000", example: 200 }),
    cursor: z.string().max(200).optional().openapi({ description: "From `pagination.next`" }),
    format,
  })
  .superRefine(checkRange)
  .refine(({ by, channelId }) => by === "channel" || channelId === undefined, {
    path: ["channelId"],
    message: "Can't be combined with by=site",
  });
export type EngagementQuery = z.output<typeof EngagementQuery>;

/** The longest range of a segment's figures, which are computed when they are asked for. */
export const LONGEST_SEGMENT_MS = 31 * DAY_MS;

export const SegmentFiguresQuery = z.strictObject({ ...range("an hour", 31), format }).superRefine(checkRange);
export type SegmentFiguresQuery = z.output<typeof SegmentFiguresQuery>;

const Count = z.number().int();

export const EngagementHour = z
  .object({
    channelId: Id.nullable().describe("Null: of no channel in particular or, with `by=site`, of the whole site"),
    hour: Time.describe("Start of the hour, milliseconds since 1970 UTC"),
    peakViewers: Count.describe("The most viewers connected at one moment"),
    watchMinutes: z.number().describe("Minutes that all viewers, signed in or not, were connected, added up"),
    newViewers: Count.describe("Devices seen for the first time that day (UTC): the hours of a day add up to its unique viewers"),
    impressions: Count.describe("The four kinds of impressions together"),
    overlayImpressions: Count,
    panelImpressions: Count,
    pollImpressions: Count,
    questImpressions: Count,
    actions: Count.describe("The three kinds of actions together"),
    callsToAction: Count.describe("Calls to action pressed in overlays"),
    panelOpens: Count,
    videoPlays: Count,
    votes: Count.describe("Responses to polls. Those sent by REST belong to the `channelId` that they name, otherwise to no channel"),
    claims: Count.describe("Rewards claimed; they belong to no channel"),
    messages: Count.describe("Chat messages that became visible"),
    purchases: Count.describe("Completed payments, renewals included, without donations; they belong to no channel"),
    donations: Count.describe("Completed payments that are donations; those on no channel in particular belong to none"),
  })
  .openapi("EngagementHour");
export type EngagementHour = z.output<typeof EngagementHour>;

export const Engagement = z
  .object({
    results: z.array(EngagementHour).describe("By channel, then by hour; an hour in which nothing happened is there with zeros"),
    pagination: z.object({
      limit: z.number().int(),
      pageResults: z.number().int(),
      next: z.string().nullable().describe("Path and query of the next page"),
      self: z.string(),
    }),
  })
  .openapi("Engagement");
export type Engagement = z.output<typeof Engagement>;

/** The steps of the viewers' history, and how far back each reaches, ms. */
export const STEPS = {
  minute: { ms: 60_000, keptMs: DAY_MS },
  "5minutes": { ms: 300_000, keptMs: 7 * DAY_MS },
  hour: { ms: HOUR_MS, keptMs: 400 * DAY_MS },
} as const;

export const HistoryQuery = z
  .strictObject({
    ...range("a step"),
    channelId: Id.optional().openapi({ description: "A channel; by default the whole site" }),
    siteId: Id.optional().openapi({ description: "The site, required with the operator's key" }),
    step: z
      .enum(["minute", "5minutes", "hour"])
      .default("minute")
      .openapi({ description: "Minutes reach back a day, five minutes 7 days, hours 400 days" }),
    format,
  })
  .superRefine(checkRange);
export type HistoryQuery = z.output<typeof HistoryQuery>;

export const ViewerHistory = z
  .object({
    siteId: Id,
    channelId: Id.nullable().describe("Null for the whole site"),
    step: z.enum(["minute", "5minutes", "hour"]),
    peak: z
      .object({ viewers: Count, at: Time })
      .nullable()
      .describe("The most viewers at one moment of the range, and the start of its step; null if there were none"),
    points: z
      .array(z.object({ at: Time, peak: Count, average: z.number() }))
      .describe("One per step, in order, without gaps: the most viewers at one moment, and the average over the step"),
  })
  .openapi("ViewerHistory");
export type ViewerHistory = z.output<typeof ViewerHistory>;

export const ReachQuery = z
  .strictObject({ ...range("a day (UTC)"), channelId: Id.optional().openapi({ description: "Only this channel" }), format })
  .superRefine(checkRange);

export const SegmentHour = z
  .object({
    hour: Time.describe("Start of the hour, milliseconds since 1970 UTC"),
    viewers: Count.describe("Accounts that started to watch video. Continuous watching starts anew every quarter of an hour"),
    watchMinutes: z.number().describe("Minutes of video that they watched"),
    votes: Count.describe("Responses to polls"),
    claims: Count.describe("Rewards claimed"),
    purchases: Count.describe("Completed payments without donations, by the time of the checkout"),
    donations: Count.describe("Completed payments that are donations"),
  })
  .openapi("SegmentHour");
export type SegmentHour = z.output<typeof SegmentHour>;

export const SegmentFigures = z
  .object({
    slug: SegmentSlug,
    results: z.array(SegmentHour).describe("By hour; an hour in which nothing happened is there with zeros"),
  })
  .openapi("SegmentFigures");
export type SegmentFigures = z.output<typeof SegmentFigures>;

const ReachKind = z.enum(["overlay", "broadcast", "panel", "poll", "quest", "video"]);

export const Reach = z
  .object({
    results: z
      .array(
        z.object({
          kind: ReachKind,
          id: Id.nullable().describe("Null: all others of the kind, which are no longer kept separately"),
          shown: Count.describe("How often it was shown"),
          used: Count.describe(
            "How often a call to action was pressed, a panel opened or a video started; of a poll, the accounts that responded",
          ),
        }),
      )
      .describe("The 200 with the highest numbers, the highest first"),
  })
  .openapi("Reach");
export type Reach = z.output<typeof Reach>;

export const RevenueQuery = z.strictObject({ ...range("a day (UTC)"), format }).superRefine(checkRange);
export type RevenueQuery = z.output<typeof RevenueQuery>;

const Sum = z.number().int().describe("In minor units of the currency");

export const Revenue = z
  .object({
    results: z
      .array(
        z.object({
          day: Time.describe("Start of the day (UTC) on which the payment pages were opened, milliseconds since 1970"),
          currency: Currency,
          purchases: Count.describe("Completed payments for subscriptions and bundles, renewals included"),
          sold: Sum.describe("What these paid, in minor units of the currency"),
          donations: Count.describe("Completed payments that are donations"),
          donated: Sum.describe("What these paid, in minor units of the currency"),
          refunded: Sum.describe("How much of both has been refunded since, in minor units of the currency"),
        }),
      )
      .describe("By day and currency; a day without payments isn't listed"),
  })
  .openapi("Revenue");
export type Revenue = z.output<typeof Revenue>;
