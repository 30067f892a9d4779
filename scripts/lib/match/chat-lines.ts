import { type Moment, RECORDED_MATCH } from "#db/demo/recorded-match.ts";

// What the supporters write. Supporters below 4 favour Old Dock, the others Harbour City.

/** A line of the chat; `after`: minutes after the moment that it comments on. */
export interface Line {
  fan: number;
  text: string;
  after: number;
  /** How many others react to it, and how. */
  reactions?: { emoji: string; count: number };
  /** The fan who replies, and what. */
  reply?: { fan: number; text: string };
}

const GOAL_CHEERS = [
  "GOOOAL! {player}!!",
  "YES YES YES",
  "What a finish by {player} 🎉",
  "I spilled my tea. Worth it.",
  "The whole Quayside stand is jumping",
  "{player} again? Somebody mark her!",
  "My neighbours hate me now",
  "Replay please!!",
  "Top corner, no chance for the keeper",
  "Who gave her that much space?",
];

const COMMENTS: Record<Exclude<Moment["kind"], "goal" | "whistle">, string[]> = {
  shot: [
    ...["{player} from that distance?", "Just over the bar. So close!", "Shoot more like that, please", "Side netting, I was already up"],
    ...[
      "{player} is everywhere today",
      "Pass it! There were two free",
      "The keeper hadn't moved",
      "Somebody close {player} down",
      "So wide it's in the harbour",
    ],
  ],
  save: [
    "{player} keeps them in it",
    "How did {player} get to that one?",
    "Hands like glue 👏",
    "{player} for player of the match",
    "Fingertips!",
  ],
  corner: [
    ...["Corner! Everybody up", "Short again? Just put it in the box", "Watch the far post", "Fourth one, and nothing comes of them"],
    ...["Clear it!", "Header wins this one, I feel it", "Keep your heads up"],
  ],
  foul: [
    ...["{player} knew exactly what that was", "Never a foul. Well, maybe a little", "That has to be a card soon", "Play on, ref"],
    ...["{player} needs to calm down", "Clever foul, to be honest"],
  ],
  offside: ["By a toenail!", "The line was flat, she was level", "Stop standing there, {player}"],
  card: ["Booked, and rightly so", "One more and {player} is off", "Did the ref even see it?"],
  substitution: ["Fresh legs. Come on {player}", "Interesting change, I'd have waited", "{player} always scores against this lot"],
};

const WHISTLES: Record<NonNullable<Moment["status"]>, Line[]> = {
  "first half": [
    { fan: 4, text: "Here we go! Come on City", after: 0, reactions: { emoji: "🎉", count: 3 } },
    { fan: 1, text: "Dock by two, you heard it here first", after: 0.4, reply: { fan: 7, text: "@Jonas Brandt you said that last year" } },
    { fan: 9, text: "Watching from a ferry, picture holds so far", after: 0.8 },
  ],
  "half time": [
    { fan: 12, text: "Could have been three already", after: 0.2 },
    { fan: 2, text: "We are still in this. Second half is ours", after: 0.5, reactions: { emoji: "👍", count: 2 } },
  ],
  "second half": [{ fan: 15, text: "Back on. Same eleven for both, I think", after: 0.2 }],
  over: [
    { fan: 5, text: "WE WON THE DERBY", after: 0, reactions: { emoji: "🎉", count: 9 } },
    { fan: 0, text: "Well played City. See you in spring", after: 0.2, reactions: { emoji: "❤️", count: 4 } },
    { fan: 11, text: "I can't feel my voice any more", after: 0.3 },
    { fan: 18, text: "Emre Tan, what a debut in a derby", after: 0.4 },
  ],
};

/** What the supporters write about the moment with this index. */
export function linesFor(moment: Moment, index: number): Line[] {
  const { kind, status, side } = moment;
  if (kind === "whistle") return status === undefined ? [] : WHISTLES[status];
  if (kind === "goal") return cheersFor(moment, index);
  const texts = COMMENTS[kind];
  const earlier = RECORDED_MATCH.slice(0, index).filter((other) => other.kind === kind).length;
  return [{ fan: fanOf(side === "away", index), text: withPlayer(texts[earlier % texts.length] ?? "", moment), after: 0.3 }];
}

function cheersFor(moment: Moment, index: number): Line[] {
  const isAway = moment.side === "away";
  const happy = isAway ? 4 : 8;
  return GOAL_CHEERS.slice(0, happy).map((text, place) => ({
    fan: isAway ? place : 4 + ((index + place) % 16),
    text: withPlayer(text, moment),
    after: 0.05 * (place + 1),
    ...(place === 0 ? { reactions: { emoji: "🎉", count: happy } } : {}),
  }));
}

function fanOf(isAway: boolean, index: number): number {
  return isAway ? index % 4 : 4 + (index % 16);
}

function withPlayer(text: string, { player }: Moment): string {
  return text.replaceAll("{player}", player?.split(" ").at(-1) ?? "she");
}
