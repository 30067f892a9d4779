import { setTimeout as sleep } from "node:timers/promises";
import { MATCH_DATA } from "#db/demo/automation.ts";
import { bodyOf, sendSigned } from "./lib/match/api.ts";
import { playChat } from "./lib/match/chat.ts";
import { predictionOf, claim, type Outcome, vote } from "./lib/match/crowd.ts";
import { drawWinner, endQuest, lockPrediction, type MatchDay, openDesk, openMatchDay, settlePrediction } from "./lib/match/desk.ts";
import { LINE_UP_SECONDS, playDirector, showLineUps, showWinner } from "./lib/match/director.ts";
import { nameOf, supporter } from "./lib/match/fans.ts";
import { lineOf, matchEvents } from "./lib/match/play.ts";
import { playQuestions } from "./lib/match/questions.ts";
import { readOptions } from "./lib/options.ts";
import { guard, Problem, say } from "./lib/report.mjs";

const NORMAL_SPEED = 30;
/** How many of the supporters who were right enter the draw. */
const ENTRANTS = 10;
/** Supporters who sign in or vote concurrently. */
const LANES = 4;
const MINUTE_MS = 60_000;
const HALF_TIME = 45;
/** The last votes are sent in this minute, so that a busy machine has time until half-time. */
const LAST_VOTE = 40;
/** The clock of an overlay doesn't run faster. */
const MAX_CLOCK_SPEED = 100;

const USAGE = `Usage: npm run demo:match -- [--speed 60] [--supporters 50]

Replays a recorded match on the demo site of the server that runs on PORT (8787 by default).

  --speed       how many times faster than the match was, ${NORMAL_SPEED} by default
  --supporters  how many vote, 200 by default`;

const url = `http://localhost:${process.env.PORT ?? "8787"}`;

await guard(async () => {
  const { speed, supporters } = wanted();
  const day = await openMatchDay(await openDesk(url));
  say(`Open ${url}/start to watch.`);
  await admit(supporters);
  const start = Date.now() + (2 * LINE_UP_SECONDS * 1000 * NORMAL_SPEED) / speed;
  await lockPrediction(await openDesk(url), day, start + (HALF_TIME * MINUTE_MS) / speed);
  const until = clockFrom(start, speed);
  say("The prediction is open until half-time.\n");
  await besides(
    "line-ups",
    showLineUps(url, (seconds) => sleep((seconds * 1000 * NORMAL_SPEED) / speed)),
  );
  const [score] = await Promise.all([
    play(until, speed),
    takeVotes(until, day, supporters),
    besides("overlays", playDirector(url, until, day.pollId)),
    besides("chat", playChat(url, until)),
    besides("questions", playQuestions(url, until)),
  ]);
  await settle(day, score, supporters);
});
if (process.connected) process.disconnect();

/** The match goes on if this part of the demo fails. */
async function besides(name: string, part: Promise<void>): Promise<void> {
  await part.catch((error: unknown) => say(`     The ${name} ended early: ${String(error)}`));
}

type Clock = (minute: number) => Promise<void>;

/** Signs all supporters in before the match, because that takes a server longer than their votes. */
async function admit(supporters: number): Promise<void> {
  await inLanes(supporters, async (number) => {
    await supporter(url, number);
    if ((number + 1) % 50 === 0) say(`${number + 1} supporters are in their seats`);
  });
}

/** Calls this for each supporter, several at a time. */
async function inLanes(supporters: number, each: (supporter: number) => Promise<void>): Promise<void> {
  const lane = async (first: number): Promise<void> => {
    for (let number = first; number < supporters; number += LANES) await each(number);
  };
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)));
}

/** A function that resolves when a minute of the match is reached. `start` is in ms. */
function clockFrom(start: number, speed: number): Clock {
  return async (minute) => void (await sleep(Math.max(0, start + (minute * MINUTE_MS) / speed - Date.now())));
}

function wanted(): { speed: number; supporters: number } {
  const { values } = readOptions(USAGE, {
    options: { speed: { type: "string", default: String(NORMAL_SPEED) }, supporters: { type: "string", default: "200" } },
  });
  const [speed, supporters] = [Number(values.speed), Number(values.supporters)];
  if (!(speed > 0)) throw new Problem(`--speed must be a number above 0, not "${values.speed}".`);
  if (!Number.isInteger(supporters) || supporters < 1)
    throw new Problem(`--supporters must be a whole number above 0, not "${values.supporters}".`);
  return { speed, supporters };
}

/** Sends the events as the match progresses; the site's rules do the rest. Returns the final score. */
async function play(until: Clock, speed: number): Promise<Record<"home" | "away", number>> {
  const run = Date.now().toString(36);
  let score = { home: 0, away: 0 };
  for (const [index, event] of matchEvents(Math.min(speed, MAX_CLOCK_SPEED)).entries()) {
    await until(event.match.minute);
    bodyOf(await sendSigned(url, MATCH_DATA, `${run}-${index}`, event));
    score = event.match.score;
    say(lineOf(event));
  }
  return score;
}

/** Lets the supporters vote during the first half, until the prediction closes. */
async function takeVotes(until: Clock, day: MatchDay, supporters: number): Promise<void> {
  let votes = 0;
  let late = 0;
  await inLanes(supporters, async (number) => {
    await until(1 + ((LAST_VOTE - 1) * number) / supporters);
    if (!(await vote(url, number, day.pollId, day.answerIds))) return void late++;
    votes++;
    if (votes % 50 === 0) say(`     ${votes} supporters have voted`);
  });
  await until(HALF_TIME);
  say(`     The prediction is closed${late > 0 ? `: ${late} supporters were too late, because the match is faster than the server` : ""}`);
}

/** Settles the prediction with the final score, and lets some of the supporters who were right enter the draw. */
async function settle(day: MatchDay, { home, away }: Record<"home" | "away", number>, supporters: number): Promise<void> {
  const outcome: Outcome = home > away ? "home" : home < away ? "away" : "draw";
  const desk = await openDesk(url);
  const { total, answers } = await settlePrediction(desk, day, outcome);
  say(`\nThe prediction is settled: ${answers.map(({ answer, responses }) => `${answer} ${responses}`).join(", ")}, of ${total}`);

  const right = answers.find(({ answerId }) => answerId === day.answerIds[outcome])?.responses ?? 0;
  const candidates = Array.from({ length: supporters }, (_, supporter) => supporter).filter(
    (supporter) => predictionOf(supporter) === outcome,
  );
  const claims = new Map<string, number>();
  for (const supporter of candidates) {
    if (claims.size === ENTRANTS) break;
    const claimId = await claim(url, supporter, day.questId);
    if (claimId !== undefined) claims.set(claimId, supporter);
  }
  if (claims.size === 0) {
    await endQuest(desk, day, "Nobody was right.");
    return say("The quest is over: nobody was right.");
  }
  const { claimId, entrants } = await drawWinner(desk, day);
  const winner = nameOf(claims.get(claimId ?? "") ?? 0);
  const outcomeText = `${right} of ${total} were right. ${winner} won the shirt, in a draw of ${entrants}.`;
  await endQuest(desk, day, outcomeText);
  await besides("winner's overlay", showWinner(url, winner, right, total));
  say(`The quest is over: ${outcomeText}`);
}
