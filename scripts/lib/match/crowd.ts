import { z } from "@hono/zod-openapi";
import { as, bodyOf, type Call, signIn } from "./api.ts";

// Supporters who sign in, vote on the prediction and claim their reward, all through the API, like an app.

const PASSWORD = "demo-supporter-pass";
/** How many of a hundred supporters predict a home win, and how many a draw. */
const PREDICTIONS = { home: 46, draw: 24 };

export type Outcome = "home" | "draw" | "away";

const Progress = z.object({ complete: z.boolean() });
const Claim = z.object({ _id: z.string() });

/** The supporter's prediction, which is the same in every run. */
export function predictionOf(supporter: number): Outcome {
  const rank = (supporter * 37) % 100;
  if (rank < PREDICTIONS.home) return "home";
  return rank < PREDICTIONS.home + PREDICTIONS.draw ? "draw" : "away";
}

export function nameOf(supporter: number): string {
  return `Supporter ${supporter + 1}`;
}

/** Sends the supporter's answer to a prediction. */
export async function vote(url: string, supporter: number, pollId: string, answerIds: Record<Outcome, string>): Promise<void> {
  const call = await signInOrUp(url, supporter);
  bodyOf(await call("POST", `/poll/v3/${pollId}/responses`, { answerId: answerIds[predictionOf(supporter)] }));
}

/** Claims a quest's reward for a supporter who has completed it, and returns the claim's id. */
export async function claim(url: string, supporter: number, questId: string): Promise<string | undefined> {
  const call = await signInOrUp(url, supporter);
  const { complete } = Progress.parse(bodyOf(await call("GET", `/quest/v2/${questId}/progress`)));
  if (!complete) return undefined;
  return Claim.parse(bodyOf(await call("POST", `/quest/v2/${questId}/claim`)))._id;
}

/** Signs a supporter in, and up first if they have no account yet. */
async function signInOrUp(url: string, supporter: number): Promise<Call> {
  const email = `supporter-${supporter + 1}@stand.example`;
  const known = await signIn(url, email, PASSWORD);
  if (known) return known;
  bodyOf(await as(url)("POST", "/account/v3", { email, password: PASSWORD, name: nameOf(supporter) }));
  return signInOrUp(url, supporter);
}
