import { expect, test } from "vitest";
import type { Schemas } from "#sdk/client/index.ts";
import { bucketsOf, madeAt, participationOf, pollParticipation, revenueByCurrency, shareText, sumOf } from "./figures.ts";
import { RANGES, rangeUntil, RANGE_NAMES } from "./range.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = 20_000 * DAY;

function hour(at: number, figures: Partial<Schemas["EngagementHour"]>): Schemas["EngagementHour"] {
  const none = { peakViewers: 0, watchMinutes: 0, newViewers: 0, impressions: 0, overlayImpressions: 0, panelImpressions: 0 };
  const engaged = { pollImpressions: 0, questImpressions: 0, actions: 0, callsToAction: 0, panelOpens: 0, videoPlays: 0 };
  const counted = { votes: 0, claims: 0, messages: 0, purchases: 0, donations: 0 };
  return { channelId: null, hour: at, ...none, ...engaged, ...counted, ...figures };
}

test("hours add up to days, in order", () => {
  const hours = [hour(START + DAY, { votes: 5 }), hour(START, { votes: 1, messages: 2 }), hour(START + 23 * HOUR, { votes: 2 })];
  expect(bucketsOf(hours, ["votes", "messages"], DAY)).toEqual([
    { at: START, values: [3, 2] },
    { at: START + DAY, values: [5, 0] },
  ]);
  expect(sumOf(hours, "votes")).toBe(8);
});

test("participation is votes per poll shown, at most all of them, and unknown where none was shown", () => {
  expect(participationOf([hour(START, { votes: 3, pollImpressions: 8 })])).toBe(37.5);
  expect(participationOf([hour(START, { votes: 9, pollImpressions: 8 })])).toBe(100);
  expect(participationOf([hour(START, { votes: 3 })])).toBeNull();
});

test("participation of a poll is who responded of those who saw it, at most all of them, and unknown if nobody saw it", () => {
  const rows = [
    { kind: "poll", id: "a", name: "Derby", shown: 800, used: 300 },
    { kind: "overlay", id: "b", name: "Goal", shown: 800, used: 300 },
    { kind: "poll", id: "c", name: null, shown: 2, used: 3 },
    { kind: "poll", id: null, name: null, shown: 0, used: 3 },
  ] as const;
  expect(pollParticipation(rows)).toEqual([
    { id: "a", name: "Derby", shown: 800, responded: 300, percent: 37.5 },
    { id: "c", name: "Deleted", shown: 2, responded: 3, percent: 100 },
    { id: null, name: "All others", shown: 0, responded: 3, percent: null },
  ]);
  expect([shareText(37.5), shareText(null)]).toEqual(["37.5 %", "–"]);
});

test("revenue is one series per currency, in its own units, with a point for each day", () => {
  const none = { purchases: 1, donations: 0, donated: 0, refunded: 0 };
  const days = [
    { day: START, currency: "gbp", ...none, sold: 1900, refunded: 400 },
    { day: START + DAY, currency: "jpy", ...none, sold: 1900, donated: 100 },
  ];
  expect(revenueByCurrency(days, { from: START + HOUR, to: START + 2 * DAY })).toEqual([
    {
      currency: "gbp",
      net: "£15.00",
      refunded: "£4.00",
      points: [
        { at: START, values: [19, 0] },
        { at: START + DAY, values: [0, 0] },
      ],
    },
    {
      currency: "jpy",
      net: "JP¥2,000",
      refunded: "JP¥0",
      points: [
        { at: START, values: [0, 0] },
        { at: START + DAY, values: [1900, 100] },
      ],
    },
  ]);
});

test("a range ends with the present step and is as long as its name says", () => {
  for (const name of RANGE_NAMES) {
    const { from, to } = rangeUntil(name, START + 12_345);
    expect(to - from).toBe(RANGES[name].ms);
    expect(to).toBeGreaterThanOrEqual(START + 12_345);
  }
});

test("an id tells when it was made", () => {
  expect(new Date(madeAt("5eed0000000000000000c001")).getUTCFullYear()).toBe(2020);
});
