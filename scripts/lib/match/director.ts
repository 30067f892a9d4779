import { CHANNEL_1 } from "#db/demo/match-day.ts";
import { AWAY_LINE_UP, FAN_MESSAGE, GUEST_TEMPLATE, HOME_LINE_UP, MATCH_BALL, NEWS_TEMPLATE, POLL_TEMPLATE } from "#db/demo/overlays.ts";
import { bodyOf } from "./api.ts";
import { openDesk } from "./desk.ts";

// What the club's director shows beside the overlays of the rules: the line-ups, the sponsor, the prediction, a fan and a guest.

type Clock = (minute: number) => Promise<void>;

/** How long each line-up is shown before kick-off, in seconds. */
export const LINE_UP_SECONDS = 6;

interface Cue {
  minute: number;
  overlayId: string;
  /** Seconds; default: the overlay's own. */
  duration?: number;
  variables?: Record<string, string | number>;
}

export async function showLineUps(url: string, pause: (seconds: number) => Promise<void>): Promise<void> {
  for (const overlayId of [HOME_LINE_UP, AWAY_LINE_UP]) {
    await show(url, { overlayId, duration: LINE_UP_SECONDS });
    await pause(LINE_UP_SECONDS);
  }
}

export async function playDirector(url: string, until: Clock, pollId: string): Promise<void> {
  const cues: Cue[] = [
    { minute: 2, overlayId: POLL_TEMPLATE, variables: { poll: pollId } },
    { minute: 12, overlayId: MATCH_BALL, duration: 7 },
    {
      minute: 28,
      overlayId: FAN_MESSAGE,
      variables: { fan: "Marta Quay", message: "Fifty years on the Quayside stand, and I still can't watch a corner." },
    },
    { minute: 36, overlayId: POLL_TEMPLATE, duration: 12, variables: { poll: pollId, headline: "Closes at half-time" } },
    {
      minute: 51,
      overlayId: GUEST_TEMPLATE,
      variables: { person: "Mira Castellanos", about: "Head coach, Harbour City", where: "Touchline" },
    },
    { minute: 65, overlayId: FAN_MESSAGE, variables: { fan: "DockDave", message: "One each and all to play for. Come on you Dockers!" } },
    {
      minute: 74,
      overlayId: NEWS_TEMPLATE,
      variables: { about: "Attendance", news: "18,342 at Harbour City Park", more: "The highest of the season so far" },
    },
  ];
  for (const cue of cues) {
    await until(cue.minute);
    await show(url, cue);
  }
}

/** Who won the draw, after the final result. */
export async function showWinner(url: string, name: string, right: number, total: number): Promise<void> {
  const variables = { about: "Match predictor", news: `${name} wins the signed shirt`, more: `${right} of ${total} supporters called it` };
  await show(url, { overlayId: NEWS_TEMPLATE, duration: 10, variables });
}

async function show(url: string, { overlayId, duration, variables }: Omit<Cue, "minute">): Promise<void> {
  const desk = await openDesk(url);
  bodyOf(await desk("POST", `/overlay/v1/broadcast/${overlayId}`, { channelId: CHANNEL_1, duration, variables }));
}
