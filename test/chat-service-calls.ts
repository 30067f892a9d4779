import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { inject, vi } from "vitest";
import { randomHex } from "#worker/lib/ids.ts";
import { type Behaviour, SeenCall } from "./chat-services.ts";

/** A deployment whose chat uses the services of test/chat-services.ts. */
export interface ChatDeployment {
  env: Env;
  behave(behaviour: Behaviour): Promise<void>;
  calls(): Promise<SeenCall[]>;
}

export function newChatDeployment(keys: { TIFO_TRANSLATE_KEY?: string; TIFO_CHAT_GUARD_KEY?: string } = {}): ChatDeployment {
  const services = `${inject("chatServices")}/${randomHex(6)}`;
  const urls = { TIFO_TRANSLATE_URL: `${services}/translate`, TIFO_CHAT_GUARD_URL: `${services}/guard` };
  return {
    // Only development allows plain http.
    env: { ...env, ...urls, ...keys, TIFO_DEVELOPMENT: "true" },
    behave: async (behaviour) => {
      await fetch(`${services}/behaviour`, { method: "PUT", body: JSON.stringify(behaviour) });
    },
    calls: async () => z.array(SeenCall).parse(await (await fetch(`${services}/calls`)).json()),
  };
}

/** A deployment with a Workers AI binding whose models are this function. */
export function newAiDeployment(run: (model: string, input: unknown) => Promise<unknown>): Env {
  return Object.assign({ ...env, TIFO_TRANSLATE_URL: "workers-ai", TIFO_CHAT_GUARD_URL: "workers-ai" }, { AI: { run } });
}

/** Lets timers of this duration run out as soon as `isDue` returns true, and not before; others run as usual. */
export function holdTimers(duration: number, isDue: () => Promise<boolean> | boolean): void {
  const { setTimeout: later } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation((callback, ms = 0) => {
    if (ms !== duration) return later(callback, ms);
    const end = async (): Promise<void> => {
      if (!(await isDue())) return;
      clearInterval(timer);
      callback();
    };
    const timer = setInterval(() => void end(), 20);
    return timer;
  });
}
