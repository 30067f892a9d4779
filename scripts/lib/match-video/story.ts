import { type Moment, RECORDED_MATCH } from "#db/demo/recorded-match.ts";
import { GOAL_X, MIDDLE_Y, type Place, SECONDS } from "./geometry.ts";
import { randomNumbers } from "./random.ts";

// What happens to the ball: the moments of the demo's recorded match, and passes between them.

/** The video shows a minute of the match in two seconds, like `npm run demo:match`. */
export const SECONDS_PER_MINUTE = 2;
/** The pictures change under a wipe: after goals, at half-time, and after the final whistle. */
const WIPE_AFTER_GOAL = 2.9;

export type Side = "home" | "away";

/** The ball is at a place at a time. It arrives from the previous touch in an arc of `lift` metres. */
export interface Touch {
  time: number;
  place: Place;
  /** The team that plays the ball there; null: nobody does. */
  side: Side | null;
  lift: number;
  /** A cut: the ball doesn't travel here. */
  cut?: boolean;
}

export interface Goal {
  time: number;
  side: Side;
}

export interface Story {
  touches: Touch[];
  goals: Goal[];
  /** When a wipe covers the whole picture. */
  wipes: number[];
}

/** 1: towards the right. The teams change ends at half-time. */
export function directionOf(side: Side, time: number): number {
  return (side === "home") === time < 46 * SECONDS_PER_MINUTE - 1 ? 1 : -1;
}

const other = (side: Side): Side => (side === "home" ? "away" : "home");
const CENTRE: Place = { x: 0, y: MIDDLE_Y };

export function matchStory(): Story {
  const random = randomNumbers(17);
  const touches: Touch[] = [{ time: 0, place: CENTRE, side: "home", lift: 0 }];
  const goals: Goal[] = [];
  const wipes: number[] = [];
  for (const moment of RECORDED_MATCH) {
    const time = moment.minute * SECONDS_PER_MINUTE;
    if (time === 0 || time >= SECONDS) continue;
    const planned = touchesOf(moment, time, random);
    passes(touches, planned[0], random);
    touches.push(...planned);
    if (moment.kind === "goal" && moment.side !== undefined) {
      goals.push({ time, side: moment.side });
      wipes.push(time + WIPE_AFTER_GOAL);
      touches.push({ time: time + WIPE_AFTER_GOAL, place: CENTRE, side: other(moment.side), lift: 0, cut: true });
    }
    if (moment.status === "half time") {
      wipes.push(time + 1);
      touches.push({ time: time + 1, place: CENTRE, side: "away", lift: 0, cut: true });
    }
  }
  passes(touches, { time: SECONDS, place: { x: 6, y: 30 }, side: "home", lift: 0 }, random);
  return { touches, goals, wipes };
}

/** What happens to the ball at a moment. */
function touchesOf({ kind, side = "home" }: Moment, time: number, random: () => number): Touch[] {
  const attacker = kind === "save" ? other(side) : side;
  const end = directionOf(attacker, time) * GOAL_X;
  const towards = Math.sign(end);
  const spread = (metres: number) => (random() - 0.5) * 2 * metres;
  const strike: Place = { x: end - towards * (13 + random() * 7), y: MIDDLE_Y + spread(11) };
  switch (kind) {
    case "goal":
      return [
        { time: time - 0.7, place: strike, side: attacker, lift: 0 },
        { time, place: { x: end + towards * 0.4, y: MIDDLE_Y + (random() < 0.5 ? -2.4 : 2.4), z: 1.1 }, side: null, lift: 0.9 },
        { time: time + 0.35, place: { x: end + towards * 1.7, y: MIDDLE_Y + 1.2 }, side: null, lift: 0.3 },
      ];
    case "shot":
      return [
        { time: time - 0.7, place: strike, side: attacker, lift: 0 },
        { time: time + 0.1, place: { x: end + towards * 4, y: MIDDLE_Y + (random() < 0.5 ? -6 : 6), z: 2.4 }, side: null, lift: 1.5 },
        { time: time + 1, place: { x: end - towards * 6, y: MIDDLE_Y }, side: other(attacker), lift: 0.4 },
      ];
    case "save":
      return [
        { time: time - 0.7, place: strike, side: attacker, lift: 0 },
        { time, place: { x: end - towards * 1.6, y: MIDDLE_Y + spread(2), z: 0.8 }, side: other(attacker), lift: 0.6 },
        { time: time + 0.9, place: { x: end - towards * 3, y: MIDDLE_Y + spread(3) }, side: other(attacker), lift: 0 },
      ];
    case "corner": {
      const flag: Place = { x: end - towards * 0.6, y: random() < 0.5 ? 0.8 : 67.2 };
      return [
        { time: time - 0.2, place: flag, side: attacker, lift: 0 },
        { time: time + 0.4, place: flag, side: attacker, lift: 0 },
        { time: time + 1.7, place: { x: end - towards * 9, y: MIDDLE_Y + spread(5) }, side: other(attacker), lift: 5 },
      ];
    }
    case "offside":
      return [
        { time: time - 0.9, place: { x: end - towards * 36, y: MIDDLE_Y + spread(14) }, side: attacker, lift: 0 },
        { time, place: { x: end - towards * 17, y: MIDDLE_Y + spread(10) }, side: attacker, lift: 2 },
        { time: time + 1.2, place: { x: end - towards * 17, y: MIDDLE_Y }, side: other(attacker), lift: 0 },
      ];
    default: {
      const place = { x: end - towards * (28 + random() * 25), y: MIDDLE_Y + spread(22) };
      return [
        { time, place, side: attacker, lift: 0 },
        { time: time + 1, place, side: other(attacker), lift: 0 },
      ];
    }
  }
}

/** Adds passes from the last touch to the next one, which the team that has the ball then plays. */
function passes(touches: Touch[], next: Touch | undefined, random: () => number): void {
  const last = touches.at(-1);
  if (!last || !next) return;
  const gap = next.time - last.time;
  const count = Math.max(0, Math.round(gap / 1.25) - 1);
  for (let index = 1; index <= count; index++) {
    const part = index / (count + 1);
    const straight = (from: number, to: number) => from + (to - from) * part;
    const away = count > 1 ? 13 : 6;
    touches.push({
      time: last.time + gap * part,
      place: {
        x: Math.max(-50, Math.min(50, straight(last.place.x, next.place.x) + (random() - 0.5) * away)),
        y: Math.max(4, Math.min(64, straight(last.place.y, next.place.y) + (random() - 0.5) * 2 * away)),
      },
      side: part < 0.3 ? (last.side ?? next.side) : next.side,
      lift: random() < 0.25 ? 3 : 0.2,
    });
  }
}
