import { randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { CHANNEL_1, SITE_A } from "#db/demo/match-day.ts";
import { MATCH_PREDICTOR, QUESTS_PANEL } from "#db/demo/panels.ts";
import { Problem } from "../report.mjs";
import { bodyOf, type Call, signIn } from "./api.ts";
import type { Outcome } from "./crowd.ts";

// What the club's own desk does on a match day: it asks, closes, settles and draws.

/** What a run of the match made: a prediction, and the quest of those who get it right. */
export interface MatchDay {
  pollId: string;
  answerIds: Record<Outcome, string>;
  questId: string;
}

/** By these the next run knows what an earlier one has left. */
const POLL_NAME = "The derby, tonight";
const QUEST_TITLE = "Call the derby";

const Id = z.object({ _id: z.string() });
const Ids = z.object({ results: z.array(Id) });
const Answers = z.tuple([Id, Id, Id]);
const Poll = z.object({ _id: z.string(), answers: Answers });
const Results = z.object({ total: z.number(), answers: z.array(z.object({ answer: z.string(), responses: z.number() })) });
const Draw = z.object({ winners: z.array(z.object({ claimId: z.string() })), entrants: z.array(z.string()) });
const Panel = z.object({ renderer: z.record(z.string(), z.unknown()) });

/** The desk, signed in as the site's admin for ten minutes. */
export async function openDesk(url: string): Promise<Call> {
  const desk = await signIn(url, "admin@demo.example", "demo-admin-pass");
  if (!desk) throw new Problem(`The server at ${url} has no demo site: \`npm start\` makes one.`);
  return desk;
}

/** Opens the prediction and its quest, shows them in the demo's panels, and takes away those of an earlier run. */
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
  const { _id: questId } = Id.parse(bodyOf(await desk("POST", "/quest/v2", questOf(pollId, "Say how it ends before half-time."))));
  await showIn(desk, MATCH_PREDICTOR, "questions", { array_id: arrayId(), poll_id: pollId });
  await showIn(desk, QUESTS_PANEL, "quests", { array_id: arrayId(), quest_id: questId });
  await clearAway(desk, { pollId, questId });
  return { pollId, questId, answerIds: { home: home._id, draw: draw._id, away: away._id } };
}

export async function closePrediction(desk: Call, { pollId }: MatchDay): Promise<void> {
  bodyOf(await desk("PATCH", `/poll/v3/${pollId}`, { open: false }));
}

/** Says how it ended; answers the final tally. */
export async function settlePrediction(desk: Call, { pollId, answerIds }: MatchDay, outcome: Outcome): Promise<z.output<typeof Results>> {
  bodyOf(await desk("POST", `/poll/v3/${pollId}/settle`, { correctAnswerId: answerIds[outcome] }));
  return Results.parse(bodyOf(await desk("GET", `/poll/v3/${pollId}/results`)));
}

/** Draws one winner; answers the claim that won, and among how many. */
export async function drawWinner(desk: Call, { questId }: MatchDay): Promise<{ claimId: string | undefined; entrants: number }> {
  const { winners, entrants } = Draw.parse(bodyOf(await desk("POST", `/quest/v2/${questId}/draw`, { winners: 1 })));
  return { claimId: winners[0]?.claimId, entrants: entrants.length };
}

/** Says in the quest how it came out. */
export async function endQuest(desk: Call, { pollId, questId }: MatchDay, description: string): Promise<void> {
  bodyOf(await desk("PUT", `/quest/v2/${questId}`, questOf(pollId, description)));
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

/** Puts an item on top of a panel's list, in place of the one that an earlier run put there. */
async function showIn(desk: Call, panelId: string, list: "questions" | "quests", item: Record<string, string>): Promise<void> {
  const { renderer } = Panel.parse(bodyOf(await desk("GET", `/panel/v3/${panelId}`)));
  const items = z.array(z.looseObject({ array_id: z.string() })).parse(renderer[list]);
  const own = items.filter(({ array_id }) => !array_id.startsWith(OWN));
  bodyOf(await desk("PATCH", `/panel/v3/${panelId}`, { renderer: { [list]: [item, ...own] } }));
}

const OWN = "run";

function arrayId(): string {
  return OWN + randomBytes(3).toString("hex");
}

async function clearAway(desk: Call, kept: Pick<MatchDay, "pollId" | "questId">): Promise<void> {
  const quests = Ids.parse(bodyOf(await desk("GET", `/quest/v2?limit=200&title=${encodeURIComponent(QUEST_TITLE)}`)));
  for (const { _id } of quests.results) if (_id !== kept.questId) bodyOf(await desk("DELETE", `/quest/v2/${_id}`));
  const rQuery = encodeURIComponent(JSON.stringify({ name: POLL_NAME }));
  const polls = Ids.parse(bodyOf(await desk("GET", `/poll/v3?limit=200&rQuery=${rQuery}`)));
  for (const { _id } of polls.results) if (_id !== kept.pollId) bodyOf(await desk("DELETE", `/poll/v3/${_id}`));
}
