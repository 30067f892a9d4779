import { FRAMES_PER_SECOND, GOAL_X, MIDDLE_Y, type Place } from "./geometry.ts";
import { directionOf, type Side, type Story, type Touch } from "./story.ts";

// Where the players run. They keep their formation around the ball; the one who is to play the ball next runs to it.

export interface Player {
  kit: Side | "homeKeeper" | "awayKeeper" | "referee";
  side: Side | null;
  keeper: boolean;
  /** Place in the formation of a team that plays to the right. */
  home: Place;
  x: number;
  y: number;
  velocity: { x: number; y: number };
  /** Steps taken, for the movement of the legs. */
  steps: number;
  facing: number;
  celebrating: boolean;
  look: number;
}

export interface Scene {
  time: number;
  ball: Required<Place>;
  players: Player[];
  score: Record<Side, number>;
  /** Who scored last, and how many seconds ago. */
  lastGoal: Side | null;
  sinceGoal: number;
  camera: number;
}

/** Metres per second. Faster than people run: ninety minutes pass in three. */
const TOP_SPEED = 11;
const FORMATION: [x: number, y: number][] = [
  [-49, 34], [-31, 9], [-34, 26], [-34, 42], [-31, 59], [-12, 14], [-15, 34], [-12, 54], [9, 12], [13, 33], [9, 56],
]; // prettier-ignore

export function team(side: Side, time: number): Player[] {
  const direction = directionOf(side, time);
  return FORMATION.map(([x, y], index) => ({
    kit: index > 0 ? side : side === "home" ? "homeKeeper" : "awayKeeper",
    side,
    keeper: index === 0,
    home: { x, y },
    // At kick-off everybody is in the own half.
    x: direction * Math.min(x, -2),
    y,
    velocity: { x: 0, y: 0 },
    steps: index * 0.7,
    facing: direction,
    celebrating: false,
    look: (index * 5 + (side === "home" ? 0 : 3)) % 8,
  }));
}

export function referee(): Player {
  const still = { velocity: { x: 0, y: 0 }, steps: 0, facing: 1, celebrating: false, look: 2 };
  return { kit: "referee", side: null, keeper: false, home: { x: -4, y: 28 }, x: -5, y: 28, ...still };
}

/** Where the ball is, between its touches. */
export function ballAt({ touches }: Story, time: number): Required<Place> {
  const index = Math.max(
    0,
    touches.findLastIndex((touch) => touch.time <= time),
  );
  const [from, to] = [touches[index], touches[index + 1]];
  if (!from) return { x: 0, y: MIDDLE_Y, z: 0 };
  const { place } = from;
  if (!to || to.cut === true) return { x: place.x, y: place.y, z: 0 };
  const part = (time - from.time) / (to.time - from.time);
  // A pass is fast at first and then rolls out.
  const eased = to.side === null ? part : 1 - (1 - part) ** 1.6;
  const [start, end] = [place.z ?? 0, to.place.z ?? 0];
  return {
    x: place.x + (to.place.x - place.x) * eased,
    y: place.y + (to.place.y - place.y) * eased,
    z: start + (end - start) * part + to.lift * 4 * part * (1 - part),
  };
}

/** Moves everybody on by one frame. */
export function move(scene: Scene, story: Story): void {
  const { time, ball, players } = scene;
  const next = nextTouch(story, time);
  const runner = next ? runnerTo(next, players) : undefined;
  const scorer = story.goals.findLast((goal) => goal.time <= time && time < goal.time + 2.9);
  for (const player of players) {
    player.celebrating = scorer !== undefined && player.side === scorer.side && !player.keeper && time > scorer.time + 0.25;
    const target = targetOf(player, scene, player === runner ? next : undefined);
    step(player, target, ball);
  }
}

function nextTouch({ touches }: Story, time: number): Touch | undefined {
  const next = touches.find((touch) => touch.time > time);
  return next?.cut === true ? undefined : next;
}

function runnerTo({ place, side }: Touch, players: Player[]): Player | undefined {
  const distance = (player: Player) => Math.hypot(player.x - place.x, player.y - place.y) + (player.keeper ? 12 : 0);
  return players.filter((player) => side !== null && player.side === side).sort((one, another) => distance(one) - distance(another))[0];
}

function targetOf(player: Player, { time, ball }: Scene, touch: Touch | undefined): Place {
  if (touch) return touch.place;
  if (player.kit === "referee") return { x: ball.x * 0.8 - 6, y: MIDDLE_Y + (ball.y - MIDDLE_Y) * 0.5 - 7 };
  const direction = directionOf(player.side ?? "home", time);
  if (player.celebrating) return { x: Math.sign(ball.x) * 43 + player.home.x * 0.12, y: 60 + (player.home.y - MIDDLE_Y) * 0.18 };
  if (player.keeper)
    return { x: -direction * (GOAL_X - 2 - Math.max(0, direction * ball.x) * 0.12), y: MIDDLE_Y + (ball.y - MIDDLE_Y) * 0.12 };
  const sway = { x: Math.sin(time * 0.9 + player.look * 2.1) * 2.2, y: Math.cos(time * 0.7 + player.look * 1.3) * 2.4 };
  const pressed = direction * player.home.x * 0.8 + ball.x * 0.56;
  return {
    x: Math.max(-GOAL_X + 4, Math.min(GOAL_X - 4, pressed + sway.x)),
    y: MIDDLE_Y + (player.home.y - MIDDLE_Y) * 0.86 + (ball.y - MIDDLE_Y) * 0.3 + sway.y,
  };
}

function step(player: Player, target: Place, ball: Place): void {
  const dt = 1 / FRAMES_PER_SECOND;
  const [dx, dy] = [target.x - player.x, target.y - player.y];
  const distance = Math.hypot(dx, dy);
  const speed = Math.min(TOP_SPEED, distance * 2.4);
  const wanted = distance < 0.15 ? { x: 0, y: 0 } : { x: (dx / distance) * speed, y: (dy / distance) * speed };
  player.velocity.x += (wanted.x - player.velocity.x) * 0.16;
  player.velocity.y += (wanted.y - player.velocity.y) * 0.16;
  player.x += player.velocity.x * dt;
  player.y += player.velocity.y * dt;
  const pace = Math.hypot(player.velocity.x, player.velocity.y);
  player.steps += pace * dt * 0.42;
  if (Math.abs(player.velocity.x) > 0.8) player.facing = Math.sign(player.velocity.x);
  else if (pace < 0.8) player.facing = ball.x >= player.x ? 1 : -1;
}
