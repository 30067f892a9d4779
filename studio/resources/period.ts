import type { Search } from "#studio/app/search.ts";

/** What a list that only returns what happens in a period can show. */
export const PERIODS = [
  { value: "upcoming", text: "From today" },
  { value: "week", text: "Next 7 days" },
  { value: "month", text: "Next 30 days" },
  { value: "past", text: "Before today" },
  { value: "all", text: "At any time" },
  { value: "days", text: "Between two days…" },
] as const;

export type PeriodName = (typeof PERIODS)[number]["value"];

/** A period as the address has it; days as the browser's date fields write them. */
export interface Period {
  name: PeriodName;
  from: string;
  to: string;
}

export interface TimeSpan {
  start: number;
  /** Exclusive. */
  end: number;
}

/** The end of the year 9999, the last that calendars can represent. */
export const FOREVER = 253_402_300_800_000;
const DAYS: Partial<Record<PeriodName, number>> = { week: 7, month: 30 };

/** What an address says; by default what is still to come. */
export function periodOf(search: Search): Period {
  const name = PERIODS.find(({ value }) => value === search["period"])?.value ?? "upcoming";
  return { name, from: search["from"] ?? "", to: search["to"] ?? "" };
}

/** Days are those of the browser's time zone. Between two days, a missing one leaves its side open; null if the last is before the first. */
export function spanOf({ name, from, to }: Period, now: number): TimeSpan | null {
  const today = dayAfter(new Date(now), 0);
  if (name === "all") return { start: 0, end: FOREVER };
  if (name === "past") return { start: 0, end: today };
  if (name === "upcoming") return { start: today, end: FOREVER };
  if (name !== "days") return { start: today, end: dayAfter(new Date(now), DAYS[name] ?? 1) };
  const [first, last] = [dayOf(from), dayOf(to)];
  const span = { start: first === null ? 0 : Math.max(0, dayAfter(first, 0)), end: last === null ? FOREVER : dayAfter(last, 1) };
  return span.end > span.start ? span : null;
}

/** What is over, the last first; the rest in the order in which it comes. */
export function directionOf({ name }: Period): 1 | -1 {
  return name === "past" ? -1 : 1;
}

function dayOf(text: string): Date | null {
  const day = new Date(`${text}T00:00`);
  return Number.isNaN(day.getTime()) || day.getTime() >= FOREVER ? null : day;
}

/** The midnight that many days later, whether the days between have 23, 24 or 25 hours. */
function dayAfter(day: Date, days: number): number {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime();
}
