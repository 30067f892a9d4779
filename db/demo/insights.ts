import type { InsightMetric } from "#db/enums.ts";
import type { insightHours, insightReach } from "#db/schema/insights.ts";
import { CHANNEL_1, CHANNEL_2, CHANNEL_B, DAY, HOUR, KICK_OFF, SITE_A, SITE_B } from "./match-day.ts";
import { CARD_TEMPLATE, GOAL_TEMPLATE, SCORE_TEMPLATE } from "./overlays.ts";
import { MATCH_PREDICTOR, QUESTS_PANEL } from "./panels.ts";
import { DERBY_RESULT, SPRING_SCORER } from "./polls.ts";
import { INTERVIEW, SPRING } from "./videos.ts";

type Hour = typeof insightHours.$inferInsert;
type Reach = typeof insightReach.$inferInsert;

/** How full the main stage was: by hours from kick-off, the part of the most viewers that were connected on average. */
const CROWD: [hour: number, share: number][] = [
  [-3, 0.02],
  [-2, 0.11],
  [-1, 0.46],
  [0, 0.93],
  [1, 0.97],
  [2, 0.38],
  [3, 0.09],
  [4, 0.03],
];
const MOST_VIEWERS = 18_420;
const BACKSTAGE = 0.07;

/** Per connected viewer and hour. */
const RATES: [metric: InsightMetric, rate: number][] = [
  ["overlayImpressions", 3.1],
  ["panelImpressions", 1.4],
  ["pollImpressions", 0.8],
  ["questImpressions", 0.5],
  ["callsToAction", 0.07],
  ["panelOpens", 0.6],
  ["videoPlays", 0.09],
  ["votes", 0.42],
  ["messages", 0.16],
];

/** The match day's figures per hour, and the rival's, which nobody else may see. */
export function demoInsightHours(): Hour[] {
  const rival: Hour = { siteId: SITE_B, channelId: CHANNEL_B, hour: KICK_OFF, metric: "peakViewers", value: 903 };
  return [...CROWD.flatMap(([hour, share]) => hoursOf(KICK_OFF + hour * HOUR, share)), rival];
}

function hoursOf(hour: number, share: number): Hour[] {
  const viewers = Math.round(MOST_VIEWERS * share);
  const backstage = Math.round(viewers * BACKSTAGE);
  const row = (channelId: string, metric: InsightMetric, value: number): Hour => {
    return { siteId: SITE_A, channelId, hour, metric, value: Math.round(value) };
  };
  const channel = (channelId: string, average: number): Hour[] => [
    row(channelId, "peakViewers", average * 1.03),
    row(channelId, "viewerSeconds", average * 3600),
    row(channelId, "newViewers", average * 0.31),
    ...RATES.map(([metric, rate]) => row(channelId, metric, average * rate)),
  ];
  return [
    ...channel(CHANNEL_1, viewers),
    ...channel(CHANNEL_2, backstage),
    row("", "sitePeakViewers", viewers * 1.03 + backstage),
    row("", "siteNewViewers", viewers * 0.32),
    row("", "claims", viewers * 0.018),
    row("", "purchases", viewers * 0.004),
  ];
}

/** What the match day's viewers saw and used most. */
export function demoInsightReach(): Reach[] {
  const day = KICK_OFF - (KICK_OFF % DAY);
  const row = (kind: Reach["kind"], targetId: string, value: number): Reach => {
    return { siteId: SITE_A, channelId: CHANNEL_1, day, kind, targetId, value };
  };
  return [
    row("overlay.shown", GOAL_TEMPLATE, 51_204),
    row("overlay.shown", CARD_TEMPLATE, 33_870),
    row("overlay.shown", SCORE_TEMPLATE, 84_115),
    row("overlay.cta", GOAL_TEMPLATE, 2_960),
    row("panel.shown", MATCH_PREDICTOR, 21_480),
    row("panel.open", MATCH_PREDICTOR, 12_733),
    row("panel.shown", QUESTS_PANEL, 14_051),
    row("panel.open", QUESTS_PANEL, 7_308),
    row("poll.shown", DERBY_RESULT, 19_902),
    row("poll.shown", SPRING_SCORER, 8_015),
    row("video.play", SPRING, 2_240),
    row("video.play", INTERVIEW, 1_187),
  ];
}
