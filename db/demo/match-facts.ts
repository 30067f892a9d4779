import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "#db/client.ts";
import { type Found, readEvent } from "#worker/services/stats/mapping.ts";
import { factStatements } from "#worker/services/stats/record.ts";
import { MATCH_DATA } from "./automation.ts";
import { factsAfter, MATCH_MAPPING } from "./line-up.ts";
import { KICK_OFF, SITE_A } from "./match-day.ts";
import { type Moment, RECORDED_MATCH } from "./recorded-match.ts";

const KEY_PLAYS = RECORDED_MATCH.filter(({ kind }) => ["goal", "card", "substitution"].includes(kind));

/** The statements that load the players and key plays of the match as it ended. */
export function demoMatchFacts(db: Db): BatchItem<"sqlite">[] {
  const end = { siteId: SITE_A, eventId: "5eed00000000000000eee0ff", receivedAt: KICK_OFF + 105 * 60_000 };
  const found: Found = { ...readMoments(RECORDED_MATCH, end), plays: KEY_PLAYS.flatMap((moment) => playsOf(moment)) };
  return factStatements(db, found, end);
}

function playsOf(moment: Moment) {
  const eventId = `5eed00000000000000eee0${moment.minute.toString(16).padStart(2, "0")}`;
  return readMoments([moment], { siteId: SITE_A, eventId, receivedAt: KICK_OFF + moment.minute * 60_000 }).plays;
}

function readMoments(moments: Moment[], source: { siteId: string; eventId: string; receivedAt: number }): Found {
  const { minute = 0, kind } = moments.at(-1) ?? {};
  const event = { match: { minute, kind, mediaTime: minute * 60, ...factsAfter(moments) } };
  return readEvent(MATCH_MAPPING, event, { ...source, providerId: MATCH_DATA });
}
