import { z } from "@hono/zod-openapi";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { parseJson } from "#worker/lib/json.ts";
import { callOut } from "#worker/lib/network/outbound.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { workersAi } from "./workers-ai.ts";

/** A sender waits for the verdict. */
const TIMEOUT_MS = 1_500;
const MODEL = "@cf/meta/llama-guard-3-8b";

const Verdict = z.object({ flagged: z.boolean() });
const ModelVerdict = z.object({ response: z.union([z.string(), z.object({ safe: z.boolean().optional() })]) });

/** Whether the deployment has an automatic moderator. */
export function hasChatGuard(env: Env): boolean {
  return env.TIFO_CHAT_GUARD_URL !== "";
}

/**
 * Whether the automatic moderator wants a person to look at this text. `TIFO_CHAT_GUARD_URL` is an HTTP service that takes `{ text }` and
 * returns `{ flagged }`, or "workers-ai" for Llama Guard. Throws if it fails or takes longer than 1.5 s.
 */
export async function isFlagged(env: Env, text: string): Promise<boolean> {
  if (env.TIFO_CHAT_GUARD_URL === "workers-ai") {
    const messages = [{ role: "user", content: text }];
    const { response } = ModelVerdict.parse(await withTimeout(workersAi(env).run(MODEL, { messages }), TIMEOUT_MS));
    return typeof response === "string" ? /\bunsafe\b/i.test(response) : response.safe === false;
  }
  const key = optionalSecret(env, "TIFO_CHAT_GUARD_KEY");
  const response = await callOut(
    env,
    env.TIFO_CHAT_GUARD_URL,
    {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ text }),
    },
    { timeout: TIMEOUT_MS },
  );
  if (response.status !== 200) throw new Error(`The automatic moderator returned ${response.status}`);
  return Verdict.parse(parseJson(response.text)).flagged;
}
