import { attributesOf, quotedString } from "./attributes.ts";

/** A date range of a playlist (RFC 8216bis, 4.4.5.1). Times in milliseconds since 1970 UTC, durations in seconds. */
export interface DateRange {
  id: string;
  class: string | null;
  startDate: number | null;
  endDate: number | null;
  duration: number | null;
  plannedDuration: number | null;
  /** The other attributes by name, such as `X-COM-EXAMPLE-AD-ID` and `SCTE35-OUT`. */
  attributes: Record<string, string>;
}

/** The last date that a playlist can have, in milliseconds since 1970 UTC: its years have four digits. */
export const LAST_DATE = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const TAG = "#EXT-X-DATERANGE:";
const OWN = new Set(["ID", "CLASS", "START-DATE", "END-DATE", "DURATION", "PLANNED-DURATION"]);

/** A range of which the tags are this many ranges apart, in multiples of what is returned, may lose the earlier ones. */
const KEPT = 10;

/** The date ranges of a playlist, the last `max`. Tags with the same id are one range; those without an id are left out. */
export function dateRangesOf(lines: string[], max: number): DateRange[] {
  const ranges = new Map<string, DateRange>();
  for (const line of lines) {
    if (!line.startsWith(TAG)) continue;
    const list = attributesOf(line.slice(TAG.length));
    const values = new Map(list.map(({ name, value }) => [name, value]));
    const id = values.get("ID");
    if (id === undefined || id === "") continue;
    const known = ranges.get(id);
    ranges.set(id, {
      id,
      class: values.get("CLASS") ?? known?.class ?? null,
      startDate: timeOf(values.get("START-DATE")) ?? known?.startDate ?? null,
      endDate: timeOf(values.get("END-DATE")) ?? known?.endDate ?? null,
      duration: secondsOf(values.get("DURATION")) ?? known?.duration ?? null,
      plannedDuration: secondsOf(values.get("PLANNED-DURATION")) ?? known?.plannedDuration ?? null,
      attributes: {
        ...known?.attributes,
        ...Object.fromEntries(list.flatMap(({ name, value }) => (OWN.has(name) || !isName(name) ? [] : [[name, value]]))),
      },
    });
    const [oldest] = ranges.keys();
    if (ranges.size > KEPT * max && oldest !== undefined) ranges.delete(oldest);
  }
  return [...ranges.values()].slice(-max);
}

/** A date range as a tag. */
export function dateRangeTag(range: DateRange): string {
  const { id, startDate, endDate, duration, plannedDuration, attributes } = range;
  const list = [
    ["ID", quotedString(id)],
    ["CLASS", range.class === null ? null : quotedString(range.class)],
    ["START-DATE", startDate === null ? null : quotedString(new Date(startDate).toISOString())],
    ["END-DATE", endDate === null ? null : quotedString(new Date(endDate).toISOString())],
    ["DURATION", duration?.toFixed(3)],
    ["PLANNED-DURATION", plannedDuration?.toFixed(3)],
    ...Object.entries(attributes).map(([name, value]) => [name, quotedString(value)]),
  ];
  return TAG + list.flatMap(([name, value]) => (value === null || value === undefined ? [] : [`${name}=${value}`])).join(",");
}

function isName(text: string): boolean {
  return /^[A-Z0-9-]{1,100}$/.test(text);
}

function timeOf(text: string | undefined): number | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}

function secondsOf(text: string | undefined): number | null {
  const seconds = Number(text ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
