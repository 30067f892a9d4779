import { z } from "@hono/zod-openapi";
import { as, bodyOf, type Call, signIn } from "./api.ts";

// Supporters who sign in, make their call and claim what they have won, each over the API as an app would.

const PASSWORD = "demo-supporter-pass";
/** Of a hundred supporters, so many believe in a home win, and so many in a draw. */
const BELIEVE = { home: 46, draw: 24 };

export type Outcome = "home" | "draw" | "away";

const Progress = z.object({ complete: z.boolean() });
const Claim = z.object({ _id: z.string() });

/** What the supporter of that number believes; the same in every run. */
export function beliefOf(supporter: number): Outcome {
  const place = (supporter * 37) % 100;
  if (place < BELIEVE.home) return "home";
  return place < BELIEVE.home + BELIEVE.draw ? "draw" : "away";
}

export function nameOf(supporter: number): string {
  return `Supporter ${supporter + 1}`;
}

/** The supporter's answer to a prediction, given once. */
export async function vote(url: string, supporter: number, pollId: string, answerIds: Record<Outcome, string>): Promise<void> {
  const call = await enter(url, supporter);
  bodyOf(await call("POST", `/poll/v3/${pollId}/responses`, { answerId: answerIds[beliefOf(supporter)] }));
}

/** Claims a quest's reward for a supporter who has completed it; answers the claim's id. */
export async function claim(url: string, supporter: number, questId: string): Promise<string | undefined> {
  const call = await enter(url, supporter);
  const { complete } = Progress.parse(bodyOf(await call("GET", `/quest/v2/${questId}/progress`)));
  if (!complete) return undefined;
  return Claim.parse(bodyOf(await call("POST", `/quest/v2/${questId}/claim`)))._id;
}

/** A supporter, signed in, and up before where this is its first match. */
async function enter(url: string, supporter: number): Promise<Call> {
  const email = `supporter-${supporter + 1}@stand.example`;
  const known = await signIn(url, email, PASSWORD);
  if (known) return known;
  bodyOf(await as(url)("POST", "/account/v3", { email, password: PASSWORD, name: nameOf(supporter) }));
  return enter(url, supporter);
}
