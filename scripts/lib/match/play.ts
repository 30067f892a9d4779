import { factsAfter, shirtOf } from "#db/demo/line-up.ts";
import { TEAMS } from "#db/demo/overlays.ts";
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
    shirt?: number;
    off?: string;
    offShirt?: number;
    side?: { name: string; color: string; crest: string };
    period: string;
    clock: number;
    running: boolean;
    speed: number;
    score: { home: number; away: number };
    scorers: { home: string; away: string };
    cards: number;
  } & ReturnType<typeof factsAfter>;
}

/** The `external_field_1` of the match's channels. */
const MATCH = "match-2026-11-21";
const TAGS = { home: "team:home", away: "team:away" };

const PERIODS = { before: "", "first half": "1st half", "half time": "Half-time", "second half": "2nd half", over: "Full time" };

/** The recorded match as events, in order, replayed at this speed. Each contains the state after it. */
export function matchEvents(speed = 1, moments: Moment[] = RECORDED_MATCH): MatchEvent[] {
  const score = { home: 0, away: 0 };
  const scorers = { home: "", away: "" };
  let cards = 0;
  let status: keyof typeof PERIODS = "before";
  return moments.map(({ minute, kind, side, player, off, ...changed }, index) => {
    const goal = kind === "goal" && side !== undefined ? side : "none";
    if (goal !== "none") {
      score[goal] += 1;
      scorers[goal] = `${scorers[goal]}${scorers[goal] === "" ? "" : "\n"}${player ?? ""} ${minute}′`;
    }
    if (kind === "card") cards += 1;
    status = changed.status ?? status;
    return {
      match: {
        ...{ id: MATCH, minute, mediaTime: minute * 60, status, kind, goal },
        ...(player === undefined ? {} : goal === "none" ? { player } : { scorer: player }),
        ...(side === undefined ? {} : { team: TAGS[side], side: TEAMS[side] }),
        ...(player === undefined ? {} : { shirt: shirtOf(player) }),
        ...(off === undefined ? {} : { off, offShirt: shirtOf(off) }),
        ...{ period: PERIODS[status], clock: minute * 60, running: status.endsWith("half"), speed },
        ...{ score: { ...score }, scorers: { ...scorers }, cards },
        ...factsAfter(moments.slice(0, index + 1)),
      },
    };
  });
}

/** An event in one line, like a live ticker. */
export function lineOf({ match }: MatchEvent): string {
  const { minute, kind, status, team, scorer, player, score } = match;
  const scoreLine = `Harbour City ${score.home}–${score.away} Old Dock`;
  const side = team === undefined ? "" : TEAMS[team === TAGS.home ? "home" : "away"].name;
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
