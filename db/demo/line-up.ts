import type { StatMapping } from "#db/types.ts";
import { CHANNEL_1 } from "./match-day.ts";
import { type Moment, RECORDED_MATCH } from "./recorded-match.ts";

// The players of the demo's derby, and what they have done after each of its moments.

interface Player {
  id: string;
  name: string;
  team: string;
  position: string;
  shirt: number;
}

const HOME = "Harbour City";
const AWAY = "Old Dock";

export const LINE_UP: Player[] = [
  { id: "okafor", name: "Ruth Okafor", team: HOME, position: "Keeper", shirt: 1 },
  { id: "haddad", name: "Noor Haddad", team: HOME, position: "Midfielder", shirt: 6 },
  { id: "lindqvist", name: "Yara Lindqvist", team: HOME, position: "Midfielder", shirt: 8 },
  { id: "moreno", name: "Ada Moreno", team: HOME, position: "Forward", shirt: 9 },
  { id: "tan", name: "Emre Tan", team: HOME, position: "Forward", shirt: 17 },
  { id: "anker", name: "Gus Anker", team: AWAY, position: "Keeper", shirt: 1 },
  { id: "kessler", name: "Bo Kessler", team: AWAY, position: "Defender", shirt: 4 },
  { id: "solberg", name: "Pia Solberg", team: AWAY, position: "Midfielder", shirt: 11 },
  { id: "vane", name: "Iris Vane", team: AWAY, position: "Forward", shirt: 10 },
  { id: "marsh", name: "Lou Marsh", team: AWAY, position: "Forward", shirt: 19 },
];

/** Who starts, by shirt number. */
export const TEAM_SHEETS = {
  home: sheet(
    "1 Ruth Okafor, 2 Tara Bello, 4 Ines Whitlock, 5 Sam Duarte, 3 Yuki Tanaka, 6 Noor Haddad, 8 Yara Lindqvist, 10 Elif Demir, 7 Cleo Martin, 9 Ada Moreno, 11 Zoe Adler",
  ),
  away: sheet(
    "1 Gus Anker, 2 Finn Okoro, 4 Bo Kessler, 5 Lars Petit, 3 Ivo Santos, 6 Dara Quinn, 7 Nia Boateng, 8 Milo Frey, 20 Mae Lund, 10 Iris Vane, 9 Kit Soto",
  ),
};

function sheet(text: string): { shirt: number; name: string }[] {
  return text.split(", ").map((entry) => {
    const [number = "", ...names] = entry.split(" ");
    return { shirt: Number(number), name: names.join(" ") };
  });
}

/** A player's shirt number. */
export function shirtOf(name: string | undefined): number | undefined {
  return [...LINE_UP, ...TEAM_SHEETS.home, ...TEAM_SHEETS.away].find((player) => player.name === name)?.shirt;
}

/** The state of the players after these moments, as the provider sends it. */
export function playersAfter(moments: Moment[]) {
  return LINE_UP.map((player) => {
    const own = moments.filter(({ player: name }) => name === player.name);
    const count = (...kinds: Moment["kind"][]) => own.filter(({ kind }) => kinds.includes(kind)).length;
    return {
      ...player,
      goals: count("goal"),
      shots: count("shot", "goal"),
      saves: count("save"),
      fouls: count("foul"),
      cards: count("card"),
    };
  });
}

/** What the site keeps of the provider's events. */
export const MATCH_MAPPING: StatMapping = {
  entities: [
    {
      ...{ channelId: CHANNEL_1, each: "match.players", entityType: "player", id: "id", name: "name", team: "team" },
      facts: { shirt: "shirt", position: "position", goals: "goals", shots: "shots", saves: "saves", fouls: "fouls", cards: "cards" },
    },
  ],
  keyPlays: [
    {
      ...{ channelId: CHANNEL_1, when: { fact: "match.keyPlay", equals: true }, kind: "match.kind", title: "match.headline" },
      ...{ mediaTime: "match.mediaTime", entityType: "player", entityId: "match.playerId" },
    },
  ],
};

const HEADLINES: Partial<Record<Moment["kind"], string>> = { goal: "Goal", card: "Yellow card", substitution: "Comes on" };

/** What an event adds for the match facts: the players, and a headline if it is a key play. */
export function factsAfter(moments: Moment[] = RECORDED_MATCH) {
  const last = moments.at(-1);
  const headline = last && HEADLINES[last.kind];
  const playerId = LINE_UP.find(({ name }) => name === last?.player)?.id;
  const isKeyPlay = headline !== undefined && playerId !== undefined;
  return {
    players: playersAfter(moments),
    keyPlay: isKeyPlay,
    ...(isKeyPlay ? { playerId, headline: `${headline}: ${last?.player ?? ""}, ${last?.minute ?? 0}′` } : {}),
  };
}
