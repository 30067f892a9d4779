import { randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { CHANNEL_1, SITE_A } from "#db/demo/match-day.ts";
import { MATCH_PREDICTOR, QUESTS_PANEL } from "#db/demo/panels.ts";
import { Problem } from "../report.mjs";
import { bodyOf, type Call, signIn } from "./api.ts";
import type { Outcome } from "./crowd.ts";

// What the club's staff do on a match day: open, close and settle the prediction, and draw the winner.

/** What a run creates: a prediction, and the quest for those who get it right. */
export interface MatchDay {
  pollId: string;
  answerIds: Record<Outcome, string>;
  questId: string;
}

/** The next run finds the resources of earlier ones by these names. */
const POLL_NAME = "The derby, tonight";
const QUEST_TITLE = "Call the derby";

const Id = z.object({ _id: z.string() });
const Ids = z.object({ results: z.array(Id) });
const Answers = z.tuple([Id, Id, Id]);
const Poll = z.object({ _id: z.string(), answers: Answers });
const Results = z.object({
  total: z.number(),
  answers: z.array(z.object({ answerId: z.string(), answer: z.string(), responses: z.number() })),
});
const Draw = z.object({ winners: z.array(z.object({ claimId: z.string() })), entrants: z.array(z.string()) });
const Panel = z.object({ renderer: z.record(z.string(), z.unknown()) });

/** The API as the site's admin, for ten minutes. */
export async function openDesk(url: string): Promise<Call> {
  const desk = await signIn(url, "admin@demo.example", "demo-admin-pass");
  if (!desk) throw new Problem(`The server at ${url} has no demo site: \`npm start\` creates one.`);
  return desk;
}

/** Creates the prediction and its quest, adds them to the demo's panels, and deletes those of earlier runs. */
export async function openMatchDay(desk: Call): Promise<MatchDay> {
  const { _id: pollId, answers } = Poll.parse(
    bodyOf(
      await desk("POST", "/poll/v3", {
        siteId: SITE_A,
        type: "prediction",
        name: POLL_NAME,
        question: "How does the derby end?",
        open: true,
        answers: [{ answer: "Harbour City win" }, { answer: "A draw" }, { answer: "Old Dock win" }],
      }),
    ),
  );
  const [home, draw, away] = answers;
  const { _id: questId } = Id.parse(bodyOf(await desk("POST", "/quest/v2", questOf(pollId, "Predict the result before half-time."))));
  await addToPanel(desk, MATCH_PREDICTOR, "questions", { array_id: arrayId(), poll_id: pollId });
  await addToPanel(desk, QUESTS_PANEL, "quests", { array_id: arrayId(), quest_id: questId });
  await deletePrevious(desk, { pollId, questId });
  return { pollId, questId, answerIds: { home: home._id, draw: draw._id, away: away._id } };
}

/** Lets the prediction close by itself at this time (ms). */
export async function lockPrediction(desk: Call, { pollId }: MatchDay, locksAt: number): Promise<void> {
  bodyOf(await desk("PATCH", `/poll/v3/${pollId}`, { locksAt: Math.round(locksAt) }));
}

/** Settles the prediction, and returns the final tally. */
export async function settlePrediction(desk: Call, { pollId, answerIds }: MatchDay, outcome: Outcome): Promise<z.output<typeof Results>> {
  bodyOf(await desk("POST", `/poll/v3/${pollId}/settle`, { correctAnswerId: answerIds[outcome] }));
  return Results.parse(bodyOf(await desk("GET", `/poll/v3/${pollId}/results`)));
}

/** Draws one winner, and returns the winning claim and the number of entrants. */
export async function drawWinner(desk: Call, { questId }: MatchDay): Promise<{ claimId: string | undefined; entrants: number }> {
  const { winners, entrants } = Draw.parse(bodyOf(await desk("POST", `/quest/v2/${questId}/draw`, { winners: 1 })));
  return { claimId: winners[0]?.claimId, entrants: entrants.length };
}

/** Updates the quest's description with the outcome, and ends it: viewers' panels say so. */
export async function endQuest(desk: Call, { pollId, questId }: MatchDay, description: string): Promise<void> {
  bodyOf(await desk("PUT", `/quest/v2/${questId}`, questOf(pollId, description)));
  bodyOf(await desk("POST", "/schedule/v1", { kind: "quest.close", targetId: questId, in: 0 }));
}

function questOf(pollId: string, description: string) {
  return {
    siteId: SITE_A,
    title: QUEST_TITLE,
    description,
    rewardDescription: "A signed shirt, drawn after the final whistle",
    rewardType: "raffle",
    claimedMessage: "You are in the draw.",
    channelIds: [CHANNEL_1],
    actions: [
      {
        arrayId: "callDerby",
        body: "How does the derby end?",
        kind: "answer:predictions:specific:correctly",
        callToAction: "Make your call",
        validationValue: pollId,
      },
    ],
  };
}

/** Puts an item at the top of a panel's list, and removes those of earlier runs. */
async function addToPanel(desk: Call, panelId: string, list: "questions" | "quests", item: Record<string, string>): Promise<void> {
  const { renderer } = Panel.parse(bodyOf(await desk("GET", `/panel/v3/${panelId}`)));
  const items = z.array(z.looseObject({ array_id: z.string() })).parse(renderer[list]);
  const others = items.filter(({ array_id }) => !array_id.startsWith(RUN_PREFIX));
  bodyOf(await desk("PATCH", `/panel/v3/${panelId}`, { renderer: { [list]: [item, ...others] } }));
}

const RUN_PREFIX = "run";

function arrayId(): string {
  return RUN_PREFIX + randomBytes(3).toString("hex");
}

async function deletePrevious(desk: Call, kept: Pick<MatchDay, "pollId" | "questId">): Promise<void> {
  const quests = Ids.parse(bodyOf(await desk("GET", `/quest/v2?limit=200&title=${encodeURIComponent(QUEST_TITLE)}`)));
  for (const { _id } of quests.results) if (_id !== kept.questId) bodyOf(await desk("DELETE", `/quest/v2/${_id}`));
  const rQuery = encodeURIComponent(JSON.stringify({ name: POLL_NAME }));
  const polls = Ids.parse(bodyOf(await desk("GET", `/poll/v3?limit=200&rQuery=${rQuery}`)));
  for (const { _id } of polls.results) if (_id !== kept.pollId) bodyOf(await desk("DELETE", `/poll/v3/${_id}`));
}
