import { z } from "@hono/zod-openapi";
import { bodyOf } from "./api.ts";
import { supporter } from "./fans.ts";

// Supporters who sign in, vote on the prediction and claim their reward, all through the API, like an app.

/** How many of a hundred supporters predict a home win, and how many a draw. */
const PREDICTIONS = { home: 46, draw: 24 };

export type Outcome = "home" | "draw" | "away";

const Progress = z.object({ complete: z.boolean() });
const Rejection = z.object({ code: z.string() });
const Claim = z.object({ _id: z.string() });

/** The supporter's prediction, which is the same in every run. */
export function predictionOf(number: number): Outcome {
  const rank = (number * 37) % 100;
  if (rank < PREDICTIONS.home) return "home";
  return rank < PREDICTIONS.home + PREDICTIONS.draw ? "draw" : "away";
}

/** Sends the supporter's answer to a prediction; returns whether it was in time. */
export async function vote(url: string, number: number, pollId: string, answerIds: Record<Outcome, string>): Promise<boolean> {
  const call = await supporter(url, number);
  const response = await call("POST", `/poll/v3/${pollId}/responses`, { answerId: answerIds[predictionOf(number)] });
  if (Rejection.safeParse(response.body).data?.code === "poll_closed") return false;
  bodyOf(response);
  return true;
}

/** Claims a quest's reward for a supporter who has completed it, and returns the claim's id. */
export async function claim(url: string, number: number, questId: string): Promise<string | undefined> {
  const call = await supporter(url, number);
  const { complete } = Progress.parse(bodyOf(await call("GET", `/quest/v2/${questId}/progress`)));
  if (!complete) return undefined;
  return Claim.parse(bodyOf(await call("POST", `/quest/v2/${questId}/claim`)))._id;
}
