import type { OverlayShow } from "#sdk/channel/index.ts";

// What the demo's channel sent during the match in the video: its log, with the media time of each entry.

/** The site and the channel of the recording, which aren't on any server. */
export const RECORDED = { clientId: "5eed00000000000000000001", channelId: "5eed0000000000000000c001", pollId: "5eed00000000000000006001" };
export const SECONDS = 180;
/** When the recording was made, in milliseconds since 1970 UTC. */
export const KICK_OFF = Date.UTC(2026, 10, 21, 15, 0);
const VIEWER = "5eed0000000000000000a003";

const HOME = { name: "Harbour City", color: "#4b3fd1" };
const AWAY = { name: "Old Dock", color: "#c2410c" };
const MATCH = { homeName: HOME.name, homeColor: HOME.color, awayName: AWAY.name, awayColor: AWAY.color };
const of = (side: typeof HOME) => ({ teamName: side.name, teamColor: side.color });

type Element = Extract<OverlayShow["contents"][number], { kind: "kit" }>;

interface Entry {
  /** Seconds of the video. */
  at: number;
  seconds: number;
  element: Element;
}

const kit = "kit" as const;

/** The match clock shows a minute every two seconds. */
function score(at: number, homeScore: number, awayScore: number, period: string): Entry {
  const clock = { clockSeconds: 0, clockAt: KICK_OFF, clockSpeed: 30, clockRunning: true };
  const variables = { ...MATCH, homeScore, awayScore, period, ...clock };
  return { at, seconds: SECONDS, element: { kind: kit, template: "scorebug", key: "score", position: "topLeft", variables } };
}

function goal(at: number, playerName: string, shirtNumber: string, minute: number, side: typeof HOME): Entry {
  const variables = { playerName, shirtNumber, moment: `${minute}′`, ...of(side) };
  return { at, seconds: 7, element: { kind: kit, template: "goal", key: "goal", position: "bottomCenter", variables } };
}

function card(at: number, playerName: string, shirtNumber: string, minute: number, side: typeof HOME): Entry {
  const variables = { card: "yellow", playerName, shirtNumber, moment: `${minute}′`, ...of(side) } as const;
  return { at, seconds: 6, element: { kind: kit, template: "card", key: "card", position: "bottomLeft", variables } };
}

function substitution(
  at: number,
  on: [name: string, shirt: string],
  off: [name: string, shirt: string],
  minute: number,
  side: typeof HOME,
): Entry {
  const variables = { inName: on[0], inNumber: on[1], outName: off[0], outNumber: off[1], moment: `${minute}′`, ...of(side) };
  return { at, seconds: 6, element: { kind: kit, template: "substitution", key: "substitution", position: "bottomLeft", variables } };
}

function other(at: number, seconds: number, element: Element): Entry {
  return { at, seconds, element };
}

const LOG: Entry[] = [
  score(0.5, 0, 0, "1st half"),
  other(2, 6, {
    kind: kit,
    template: "lower-third",
    key: "title",
    position: "bottomLeft",
    variables: { label: "Derby day", name: "Harbour City – Old Dock", role: "Harbour City Park, 21 November" },
  }),
  other(9, 22, { kind: kit, template: "poll", key: "poll", position: "centerRight", variables: { pollId: RECORDED.pollId } }),
  goal(34.2, "Ada Moreno", "9", 17, HOME),
  score(34.2, 1, 0, "1st half"),
  card(46.4, "Bo Kessler", "4", 23, AWAY),
  other(58, 7, {
    kind: kit,
    template: "chat-message",
    key: "chat",
    position: "bottomRight",
    variables: { name: "Priya", text: "What a save!! Okafor is unreal today 🧤" },
  }),
  substitution(80.3, ["Pia Solberg", "11"], ["Lou Marsh", "19"], 40, AWAY),
  score(92, 1, 0, "2nd half"),
  other(98, 6, {
    kind: kit,
    template: "sponsor",
    key: "sponsor",
    position: "bottomRight",
    variables: { label: "The match ball is by", name: "Quayside Outfitters" },
  }),
  goal(116.2, "Iris Vane", "10", 58, AWAY),
  score(116.2, 1, 1, "2nd half"),
  substitution(126, ["Emre Tan", "17"], ["Noor Haddad", "6"], 60, HOME),
  card(140.4, "Yara Lindqvist", "8", 70, HOME),
  other(150, 8, {
    kind: kit,
    template: "question",
    key: "question",
    position: "bottomCenter",
    variables: { name: "Jonas", text: "Will you change to three at the back?", votes: 312 },
  }),
  goal(166.2, "Emre Tan", "17", 83, HOME),
  score(166.2, 2, 1, "2nd half"),
  // In the last half minute on the clock in the picture; it stays when the video has ended.
  other(179, 60, {
    kind: kit,
    template: "final-result",
    key: "result",
    position: "center",
    variables: { ...MATCH, homeScore: 2, awayScore: 1, homeDetail: "Ada Moreno 17′\nEmre Tan 83′", awayDetail: "Iris Vane 58′" },
  }),
];

/** The goals, for the player's timeline. */
export const GOALS = LOG.filter(({ element }) => element.template === "goal").map(({ at }) => at);

/** The broadcasts of the recording. Each is shown when the video reaches its timecode. */
export function recordedBroadcasts(): OverlayShow[] {
  return LOG.map(({ at, seconds, element }, index) => ({
    type: "overlay.show",
    ...{ seq: index + 1, upTo: index + 1, cta: null, variables: {}, priority: 0, timecode: at, position: element.position },
    broadcastId: `5eed00000000000000bb${String(index).padStart(4, "0")}`,
    overlayId: `5eed00000000000000aa${element.key}`,
    ...{ startsAt: KICK_OFF + at * 1000, endsAt: KICK_OFF + (at + seconds) * 1000 },
    contents: [element],
  }));
}

/** Viewers of the channel at a media time. */
export function viewersAt(time: number): number {
  const excitement = [34, 116, 166].reduce((sum, goal) => sum + (time > goal ? 900 * Math.exp(-(time - goal) / 25) : 0), 0);
  return Math.round(8_200 + time * 24 + excitement + 35 * Math.sin(time / 3));
}

export const ANSWERS = [
  { id: "5eed00000000000000006a01", answer: "Harbour City" },
  { id: "5eed00000000000000006a02", answer: "A draw" },
  { id: "5eed00000000000000006a03", answer: "Old Dock" },
] as const;
/** Votes are counted from here to there, in seconds. */
export const POLL = { question: "Who wins the derby?", opens: 0, closes: 170, winner: ANSWERS[0].id };

/** The other viewers' votes for each answer at a media time. */
export function votesAt(time: number): number[] {
  const part = Math.max(0, Math.min(1, time / POLL.closes));
  const total = 6_400 * (1 - (1 - part) ** 3) + 240;
  const tilt = time < 34 ? 0 : time < 116 ? 0.08 : 0.02;
  return [0.47 + tilt, 0.22 - tilt / 2, 0.31 - tilt / 2].map((share) => Math.round(total * share));
}

interface Line {
  at: number;
  name: string;
  text: string;
}

/** The chat, in order. */
export const CHAT: Line[] = [
  [3, "Jonas", "Here we go! 🏟️"],
  [8, "Mei", "Is anybody else's picture behind the overlay?"],
  [11, "Sam W.", "No, perfectly in sync here"],
  [17, "Old Dock Forever", "you lot are loud for a team without a shot on target"],
  [24, "Tomasz", "Voted Harbour City, obviously 💜"],
  [35, "Ada Fan Club", "GOOOAL"],
  [35.6, "Priya", "MORENO!!! 🎉"],
  [36.4, "Jonas", "COME ON HARBOUR CITY"],
  [38, "Leïla", "What a pass before it, watch the replay"],
  [47, "Old Dock Forever", "never a card"],
  [54, "Priya", "What a save!! Okafor is unreal today 🧤"],
  [70, "Mei", "corner again, third in two minutes"],
  [82, "Sam W.", "Solberg on, that will change things"],
  [92, "Tomasz", "1–0 at half-time 👏"],
  [104, "Leïla", "second half, same pace please"],
  [117, "Old Dock Forever", "VANE!!! told you 🧡"],
  [118.2, "Old Dock Forever", "1–1 and it's deserved"],
  [121, "Jonas", "We asked for that, too open at the back"],
  [128, "Mei", "Tan comes on. He scored in the last derby, too"],
  [141, "Priya", "careful now Yara"],
  [155, "Jonas", "Ha, my question is on the screen"],
  [167, "Ada Fan Club", "TAAAAN 🎉🎉🎉"],
  [167.8, "Tomasz", "2–1!!! I can't breathe"],
  [169, "Leïla", "Raise the banner! 💜🤍"],
  [176, "Sam W.", "What a match. Same time next week?"],
].map(([at, name, text]) => ({ at: Number(at), name: String(name), text: String(text) }));

/** The viewer of this page, as the recording knows them. */
export const YOU = { id: VIEWER, name: "You" };
