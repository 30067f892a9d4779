// `npm run demo:match`: replays a recorded match on the demo site of a running server, at 30 times the original speed, or with `-- --speed 60`.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { MATCH_DATA } from "#db/demo/automation.ts";
import { bodyOf, sendSigned } from "./lib/match/api.ts";
import { playChat } from "./lib/match/chat.ts";
import { predictionOf, claim, type Outcome, vote } from "./lib/match/crowd.ts";
import { closePrediction, drawWinner, endQuest, type MatchDay, openDesk, openMatchDay, settlePrediction } from "./lib/match/desk.ts";
import { nameOf } from "./lib/match/fans.ts";
import { lineOf, matchEvents } from "./lib/match/play.ts";
import { playQuestions } from "./lib/match/questions.ts";
import { guard, Problem, say } from "./lib/report.mjs";

const SUPPORTERS = 200;
/** How many of the supporters who were right enter the draw. */
const ENTRANTS = 10;
/** Supporters who sign in concurrently. */
const LANES = 4;
const MINUTE_MS = 60_000;

const url = `http://localhost:${process.env.PORT ?? "8787"}`;

await guard(async () => {
  const speed = wantedSpeed();
  const day = await openMatchDay(await openDesk(url));
  const until = kickOff(speed);
  say(`Open ${url}/start to watch. The prediction is open until half-time.\n`);
  const [score] = await Promise.all([
    play(until),
    takeVotes(until, day),
    besides("chat", playChat(url, until)),
    besides("questions", playQuestions(url, until)),
  ]);
  await settle(day, score);
});
if (process.connected) process.disconnect();

/** The match goes on if this part of the demo fails. */
async function besides(name: string, part: Promise<void>): Promise<void> {
  await part.catch((error: unknown) => say(`     The ${name} ended early: ${String(error)}`));
}

type Clock = (minute: number) => Promise<void>;

/** Starts the match, and returns a function that resolves when a minute is reached. */
function kickOff(speed: number): Clock {
  const start = Date.now();
  return async (minute) => void (await sleep(Math.max(0, start + (minute * MINUTE_MS) / speed - Date.now())));
}

function wantedSpeed(): number {
  const { values } = parseArgs({ options: { speed: { type: "string", default: "30" } } });
  const speed = Number(values.speed);
  if (!(speed > 0)) throw new Problem(`--speed must be a number above 0, not "${values.speed}".`);
  return speed;
}

/** Sends the events as the match progresses; the site's rules do the rest. Returns the final score. */
async function play(until: Clock): Promise<Record<"home" | "away", number>> {
  const run = Date.now().toString(36);
  let score = { home: 0, away: 0 };
  for (const [index, event] of matchEvents().entries()) {
    await until(event.match.minute);
    bodyOf(await sendSigned(url, MATCH_DATA, `${run}-${index}`, event));
    score = event.match.score;
    say(lineOf(event));
  }
  return score;
}

/** Lets the supporters vote during the first half, then closes the prediction. */
async function takeVotes(until: Clock, day: MatchDay): Promise<void> {
  const lane = async (first: number): Promise<void> => {
    for (let supporter = first; supporter < SUPPORTERS; supporter += LANES) {
      await until(1 + (43 * supporter) / SUPPORTERS);
      await vote(url, supporter, day.pollId, day.answerIds);
      if ((supporter + 1) % 50 === 0) say(`     ${supporter + 1} supporters have voted`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)));
  await until(45);
  await closePrediction(await openDesk(url), day);
  say("     The prediction is closed");
}

/** Settles the prediction with the final score, and lets some of the supporters who were right enter the draw. */
async function settle(day: MatchDay, { home, away }: Record<"home" | "away", number>): Promise<void> {
  const outcome: Outcome = home > away ? "home" : home < away ? "away" : "draw";
  const desk = await openDesk(url);
  const { total, answers } = await settlePrediction(desk, day, outcome);
  say(`\nThe prediction is settled: ${answers.map(({ answer, responses }) => `${answer} ${responses}`).join(", ")}, of ${total}`);

  const right = Array.from({ length: SUPPORTERS }, (_, supporter) => supporter).filter((supporter) => predictionOf(supporter) === outcome);
  const claims = new Map<string, number>();
  for (const supporter of right.slice(0, ENTRANTS)) {
    const claimId = await claim(url, supporter, day.questId);
    if (claimId !== undefined) claims.set(claimId, supporter);
  }
  const { claimId, entrants } = await drawWinner(desk, day);
  const winner = nameOf(claims.get(claimId ?? "") ?? 0);
  const outcomeText = `${right.length} of ${total} were right. ${winner} won the shirt, in a draw of ${entrants}.`;
  await endQuest(desk, day, outcomeText);
  say(`The quest is over: ${outcomeText}`);
}
