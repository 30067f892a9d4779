import type { Rule } from "./draft.ts";
import type { DryRunResult } from "./queries.ts";

// What a dry run is made of and shows, as pure functions.

type Event = Record<string, unknown>;

/** The events of a file: a list of them, or one a line; as the API lists received ones, they are in `event`. */
export function parseRecording(text: string): Event[] {
  const whole = parse(text);
  const values: unknown[] = Array.isArray(whole)
    ? whole
    : isRecord(whole) && Array.isArray(whole["results"])
      ? whole["results"].toReversed()
      : text.split("\n").map((line) => parse(line));
  return values.filter(isRecord).map((value) => (isRecord(value["event"]) ? value["event"] : value));
}

export interface TestedRule {
  rule: Rule;
  results: DryRunResult[];
}

export interface Row {
  position: number;
  event: Event;
  fired: { rule: Rule; result: DryRunResult }[];
  /** Why nothing could fire. */
  note: string | null;
}

/** A row per event with the rules that it fires. Rules of other providers have events of their own, which follow. */
export function rowsOf(tested: readonly TestedRule[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { rule, results } of tested) {
    for (const [index, result] of results.entries()) {
      const key = `${rule.jsonRule.trigger.dataProviderId} ${String(index)} ${JSON.stringify(result.event)}`;
      const row = rows.get(key) ?? { position: 0, event: result.event, fired: [], note: null };
      if (result.fired) row.fired.push({ rule, result });
      else row.note ??= result.message;
      rows.set(key, row);
    }
  }
  return [...rows.values()].map((row, index) => ({ ...row, position: index + 1 }));
}

/** What an event is about, short enough for a line: its plain values. */
export function momentOf(event: Event): string {
  const text = plainValues(event)
    .slice(0, 6)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(" · ");
  return text === "" ? "(empty)" : text.slice(0, 160);
}

function plainValues(value: Event): [string, unknown][] {
  return Object.entries(value).flatMap(([name, part]): [string, unknown][] => {
    if (isRecord(part)) return plainValues(part).map(([inner, leaf]) => [inner, leaf]);
    return Array.isArray(part) ? [] : [[name, part]];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Event {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
