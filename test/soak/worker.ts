// Tifo's Worker on bindings that fail, a wrong clock, and objects that are evicted. The soak's server is made of it.
import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import worker, * as tifo from "#worker/index.ts";
import { shiftAlarms, shiftClock } from "./clock.ts";
import { withFaults } from "./faults.ts";

const settings = z
  .object({ SOAK_FAULTS: z.coerce.number(), SOAK_CLOCK_MS: z.coerce.number(), SOAK_EVICTION_SECONDS: z.coerce.number() })
  .parse(env);

shiftClock(settings.SOAK_CLOCK_MS);

type ObjectClass = new (ctx: DurableObjectState, env: Env) => object;

/** The class with bindings that fail; each of its objects is evicted after a random time. */
function tried<C extends ObjectClass>(original: C): C {
  return new Proxy(original, {
    construct(target, [ctx, bindings]: [DurableObjectState, Env], self) {
      shiftAlarms(ctx.storage, settings.SOAK_CLOCK_MS);
      const { SOAK_EVICTION_SECONDS: mean } = settings;
      if (mean > 0) setTimeout(() => ctx.abort("Evicted by the soak"), (0.5 + Math.random()) * mean * 1000);
      const object: unknown = Reflect.construct(target, [ctx, withFaults(bindings, settings.SOAK_FAULTS)], self);
      if (typeof object !== "object" || object === null) throw new TypeError("A class makes objects");
      return object;
    },
  });
}

export const Automation = tried(tifo.Automation);
export const Branch = tried(tifo.Branch);
export const Channel = tried(tifo.Channel);
export const ChatRoom = tried(tifo.ChatRoom);
export const CuePoller = tried(tifo.CuePoller);
export const InsightCounter = tried(tifo.InsightCounter);
export const Leaderboard = tried(tifo.Leaderboard);
export const Limiter = tried(tifo.Limiter);
export const QuestionBoard = tried(tifo.QuestionBoard);
export const StatBoard = tried(tifo.StatBoard);
export const PollCounter = tried(tifo.PollCounter);
export const Relay = tried(tifo.Relay);
export const Scheduler = tried(tifo.Scheduler);
export const SiteLog = tried(tifo.SiteLog);
export const SitePresence = tried(tifo.SitePresence);
export const ViewCounter = tried(tifo.ViewCounter);
export const WebhookEndpoint = tried(tifo.WebhookEndpoint);

export default {
  fetch: (request, bindings, ctx) => worker.fetch(request, withFaults(bindings, settings.SOAK_FAULTS), ctx),
  queue: (batch, bindings) => worker.queue(batch, withFaults(bindings, settings.SOAK_FAULTS)),
  scheduled: (controller, bindings) => worker.scheduled(controller, withFaults(bindings, settings.SOAK_FAULTS)),
} satisfies ExportedHandler<Env>;
