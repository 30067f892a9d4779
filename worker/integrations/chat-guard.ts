import { z } from "@hono/zod-openapi";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { parseJson } from "#worker/lib/json.ts";
import { logError } from "#worker/lib/log.ts";
import { callOut } from "#worker/lib/network/outbound.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { workersAi } from "./workers-ai.ts";

/** The sender waits for the verdict. */
const TIMEOUT_MS = 1_500;
const MAX_BYTES = 16 * 1024;
const MODEL = "@cf/meta/llama-guard-3-8b";
/** Calls at a time. While that many are unanswered, messages pass unchecked, so a hanging service delays few senders. */
const CONCURRENCY = 64;

/** `category`: why the text is held, in the service's own terms; null if it gives no reason. */
export type GuardVerdict = { hold: false } | { hold: true; category: string | null };

const PASSED: GuardVerdict = { hold: false };
const Category = z.string().min(1).max(100).nullish().catch(null);
const ServiceVerdict = z.object({ flagged: z.boolean(), category: Category });
const ModelVerdict = z.object({
  response: z.union([z.string(), z.object({ safe: z.boolean(), categories: z.array(z.string()).catch([]) })]),
});

/**
 * A room's automatic moderator, which holds messages for a person and never removes any. `TIFO_CHAT_GUARD_URL` is an HTTP service that takes
 * `{ text }` and returns `{ flagged, category? }`, or "workers-ai" for Llama Guard. Empty turns it off.
 */
export class ChatGuard {
  readonly #env: Env;
  readonly #about: { siteId: string; channel: string };
  #inProgress = 0;
  #isOverloaded = false;

  /** `about` identifies the room in the log. */
  constructor(env: Env, about: { siteId: string; channel: string }) {
    this.#env = env;
    this.#about = about;
  }

  /** Whether to hold a text. Without a verdict within 1.5 s it passes, because an outage of the service must not close the chat. */
  async check(text: string): Promise<GuardVerdict> {
    if (this.#env.TIFO_CHAT_GUARD_URL === "" || !this.#hasCapacity()) return PASSED;
    this.#inProgress++;
    try {
      return this.#env.TIFO_CHAT_GUARD_URL === "workers-ai" ? await askModel(this.#env, text) : await askService(this.#env, text);
    } catch (error) {
      logError("chat_guard_failed", error, this.#about);
      return PASSED;
    } finally {
      this.#inProgress--;
    }
  }

  /** Logs once per overload. */
  #hasCapacity(): boolean {
    if (this.#inProgress <= CONCURRENCY / 2) this.#isOverloaded = false;
    if (this.#inProgress < CONCURRENCY) return true;
    if (!this.#isOverloaded) logError("chat_guard_overloaded", new Error(`${CONCURRENCY} texts await a verdict`), this.#about);
    this.#isOverloaded = true;
    return false;
  }
}

async function askService(env: Env, text: string): Promise<GuardVerdict> {
  const key = optionalSecret(env, "TIFO_CHAT_GUARD_KEY");
  const headers = { "Content-Type": "application/json", ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) };
  const init = { method: "POST", headers, body: JSON.stringify({ text }) };
  const response = await callOut(env, env.TIFO_CHAT_GUARD_URL, init, { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES });
  if (response.status !== 200) throw new Error(`The automatic moderator returned ${response.status}`);
  const { data } = ServiceVerdict.safeParse(parseJson(response.text));
  if (!data) throw new Error("The automatic moderator returned no verdict");
  return data.flagged ? { hold: true, category: data.category ?? null } : PASSED;
}

/** The model writes "safe", or "unsafe" and a line of hazard categories such as "S1,S10"; in JSON mode the same as an object. */
async function askModel(env: Env, text: string): Promise<GuardVerdict> {
  const messages = [{ role: "user", content: text }];
  const { response } = ModelVerdict.parse(await withTimeout(workersAi(env).run(MODEL, { messages }), TIMEOUT_MS));
  if (typeof response !== "string")
    return response.safe ? PASSED : { hold: true, category: Category.parse(response.categories.join(",")) ?? null };
  const [, word, category] = /^\s*(safe|unsafe)\b\s*(.*)/.exec(response) ?? [];
  if (word === undefined) throw new Error("The model returned no verdict");
  return word === "safe" ? PASSED : { hold: true, category: Category.parse(category) ?? null };
}
