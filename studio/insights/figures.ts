import type { Schemas } from "#sdk/client/index.ts";
import { formatMoney, minorDigits } from "#worker/lib/money.ts";

type Hour = Schemas["EngagementHour"];
type Reach = Schemas["Reach"]["results"][number];
type Day = Schemas["Revenue"]["results"][number];

/** The figures of an hour that can be added up. */
export type Figure = Exclude<keyof Hour, "channelId" | "hour" | "peakViewers">;

/** One point of a chart and one row of its table. */
export interface Point {
  at: number;
  /** In the order of the chart's series. */
  values: number[];
}

/** Adds hours up to buckets, for example to days. Every bucket that has an hour is there. */
export function bucketsOf(hours: readonly Hour[], names: readonly Figure[], bucketMs: number): Point[] {
  const buckets = new Map<number, number[]>();
  for (const hour of hours) {
    const at = hour.hour - (hour.hour % bucketMs);
    const sums = buckets.get(at) ?? names.map(() => 0);
    buckets.set(
      at,
      names.map((name, index) => (sums[index] ?? 0) + hour[name]),
    );
  }
  return [...buckets].map(([at, values]) => ({ at, values: values.map(round) })).sort((one, other) => one.at - other.at);
}

export function sumOf(hours: readonly Hour[], name: Figure): number {
  return hours.reduce((sum, hour) => sum + hour[name], 0);
}

/** Responses per impression of a poll, as a percentage; null without impressions. A viewer can vote without having seen the poll here. */
export function participationOf(hours: readonly Hour[]): number | null {
  const shown = sumOf(hours, "pollImpressions");
  return shown === 0 ? null : Math.min(100, Math.round((1000 * sumOf(hours, "votes")) / shown) / 10);
}

export interface PollParticipation {
  /** Null: all polls that are no longer counted separately. */
  id: string | null;
  name: string;
  shown: number;
  responded: number;
  /** Null if nobody reported to have seen it. */
  percent: number | null;
}

/** Of each poll, how many responded of those who saw it; those that most saw come first. */
export function pollParticipation(rows: readonly (Reach & { name: string | null })[]): PollParticipation[] {
  return rows
    .filter(({ kind }) => kind === "poll")
    .map(({ id, name, shown, used: responded }) => ({
      ...{ id, shown, responded, name: id === null ? "All others" : (name ?? "Deleted") },
      percent: shown === 0 ? null : Math.min(100, round((100 * responded) / shown)),
    }));
}

export function shareText(percent: number | null): string {
  return percent === null ? "–" : `${percent.toLocaleString("en-GB")} %`;
}

export interface CurrencyRevenue {
  currency: string;
  /** What was paid less what was refunded, for people. */
  net: string;
  refunded: string;
  /** Sold and donated per day, in units of the currency. */
  points: Point[];
}

/** One chart per currency, because amounts of different ones can't be added up. Days without payments are zero. */
export function revenueByCurrency(days: readonly Day[], { from, to }: { from: number; to: number }): CurrencyRevenue[] {
  const currencies = [...new Set(days.map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const own = days.filter((day) => day.currency === currency);
    const total = (of: (day: Day) => number) => own.reduce((sum, day) => sum + of(day), 0);
    const refunded = total((day) => day.refunded);
    const net = total((day) => day.sold + day.donated) - refunded;
    const unit = 10 ** minorDigits(currency);
    const points = daysOf(from, to).map((at) => {
      const day = own.find((each) => each.day === at);
      return { at, values: [(day?.sold ?? 0) / unit, (day?.donated ?? 0) / unit] };
    });
    return { currency, net: formatMoney(net, currency), refunded: formatMoney(refunded, currency), points };
  });
}

const DAY_MS = 86_400_000;

function daysOf(from: number, to: number): number[] {
  const first = from - (from % DAY_MS);
  return Array.from({ length: Math.max(0, Math.ceil((to - first) / DAY_MS)) }, (_, index) => first + index * DAY_MS);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** When something with this id was made: ids start with their second. */
export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16) * 1000;
}
