import { createDb } from "#db/client.ts";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import type { TestSite } from "./harness.ts";
import { Poll, PollResults } from "#worker/services/polls/schemas.ts";
import { eq } from "drizzle-orm";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

export const derby = { type: "prediction", question: "Who wins the derby?", name: "Derby result", open: true };
export const outcomes = [
  { answer: "Harbour City", imageUrl: "https://demo.example/city.png" },
  { answer: "A draw" },
  { answer: "Old Dock" },
];

/** Poll calls for tests. `site` is a function because suites create their site in `beforeAll`. */
export function pollCalls(site: () => TestSite) {
  async function newPoll(fields: Record<string, unknown> = {}, on = site()) {
    return (await on.call("createPoll", { body: { siteId: on.id, ...derby, answers: outcomes, ...fields } })).as(Poll);
  }
  const answer = (id: string, answerId: string, as: "viewer" | "reader" | "creator" | "admin" = "viewer", headers = {}) =>
    site().call("respondToPoll", { as, params: { id }, body: { answerId }, headers });
  const patch = (id: string, body: Record<string, unknown>, headers = {}) => site().call("patchPoll", { params: { id }, body, headers });
  const settle = (id: string, correctAnswerId?: string) =>
    site().call("settlePoll", { params: { id }, body: correctAnswerId === undefined ? {} : { correctAnswerId } });
  const read = async (id: string, as: "client" | "developer" | "admin" | "viewer" = "client") =>
    (await site().call("getPoll", { as, params: { id } })).as(Poll);
  const results = async (id: string, as: "client" | "developer" = "client") =>
    (await site().call("getPollResults", { as, params: { id } })).as(PollResults);
  return { newPoll, answer, patch, settle, read, results };
}

export const idOf = (poll: { answers: { _id: string }[] }, index: number) => poll.answers[index]?._id ?? "";
export const storedResponses = (pollId: string) => db.select().from(pollResponses).where(eq(pollResponses.pollId, pollId));
