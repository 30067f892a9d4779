import { factsAfter } from "#db/demo/line-up.ts";
import { type Moment, RECORDED_MATCH } from "#db/demo/recorded-match.ts";

/** An event as the demo's data provider sends it. */
export interface MatchEvent {
  match: {
    id: string;
    minute: number;
    mediaTime: number;
    status: string;
    kind: string;
    goal: "home" | "away" | "none";
    scorer?: string;
    player?: string;
    team?: string;
    score: { home: number; away: number };
    cards: number;
  } & ReturnType<typeof factsAfter>;
}

/** The `external_field_1` of the match's channels. */
const MATCH = "match-2026-11-21";
const TEAMS = { home: "Harbour City", away: "Old Dock" };
const TAGS = { home: "team:home", away: "team:away" };

/** The recorded match as events, in order. Each contains the state after it. */
export function matchEvents(moments: Moment[] = RECORDED_MATCH): MatchEvent[] {
  const score = { home: 0, away: 0 };
  let cards = 0;
  let status = "before";
  return moments.map(({ minute, kind, side, player, ...changed }, index) => {
    const goal = kind === "goal" && side !== undefined ? side : "none";
    if (goal !== "none") score[goal] += 1;
    if (kind === "card") cards += 1;
    status = changed.status ?? status;
    return {
      match: {
        ...{ id: MATCH, minute, mediaTime: minute * 60, status, kind, goal },
        ...(player === undefined ? {} : goal === "none" ? { player } : { scorer: player }),
        ...(side === undefined ? {} : { team: TAGS[side] }),
        ...{ score: { ...score }, cards },
        ...factsAfter(moments.slice(0, index + 1)),
      },
    };
  });
}

/** An event in one line, like a live ticker. */
export function lineOf({ match }: MatchEvent): string {
  const { minute, kind, status, team, scorer, player, score } = match;
  const scoreLine = `Harbour City ${score.home}–${score.away} Old Dock`;
  const side = team === undefined ? "" : TEAMS[team === TAGS.home ? "home" : "away"];
  const what =
    kind === "whistle"
      ? `${WHISTLES[status] ?? "Whistle"}: ${scoreLine}`
      : scorer === undefined
        ? LINES[kind]
        : `GOAL! ${scorer}. ${scoreLine}`;
  const who = [player, side].filter((part) => part !== undefined && part !== "").join(", ");
  return `${String(minute).padStart(2)}′  ${what ?? kind}${who === "" || scorer !== undefined ? "" : `: ${who}`}`;
}

const WHISTLES: Record<string, string> = {
  "first half": "Kick-off",
  "half time": "Half-time",
  "second half": "Second half",
  over: "Full time",
};
const LINES: Record<string, string> = {
  shot: "Shot",
  save: "Save",
  corner: "Corner",
  foul: "Foul",
  offside: "Offside",
  card: "Yellow card",
  substitution: "Substitution",
};
