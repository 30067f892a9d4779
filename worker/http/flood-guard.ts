import type { Context, MiddlewareHandler } from "hono";
import { Failure } from "#worker/lib/errors.ts";
import type { AppEnv } from "./app-env.ts";
import { callerAddress } from "./limits.ts";

/** One in this many requests is counted, and the binding's limit is lower by the same factor: counting costs time, and floods are still found. */
const SAMPLING = 10;
/** How long a flooding address is blocked, and how many addresses an isolate remembers. */
const PAUSE_MS = 10_000;
const MAX_PAUSED = 10_000;

/** Rejects floods from one address cheaply. It is permissive and per location; exact quotas are in `limits.ts`. */
export function createFloodGuard(random: () => number = Math.random): MiddlewareHandler<AppEnv> {
  const pausedUntil = new Map<string, number>();
  async function stop(c: Context<AppEnv>, counted: boolean): Promise<void> {
    const address = callerAddress(c);
    if (isPaused(pausedUntil, address) || (counted && !(await isWithinLimit(c, address)))) {
      if (pausedUntil.size >= MAX_PAUSED) pausedUntil.clear();
      if (!pausedUntil.has(address)) pausedUntil.set(address, Date.now() + PAUSE_MS);
      throw new Failure("rate_limited", "Too many requests from this address", { headers: { "Retry-After": String(PAUSE_MS / 1000) } });
    }
  }
  return (c, next) => {
    const counted = random() * SAMPLING < 1;
    return counted || pausedUntil.size > 0 ? stop(c, counted).then(next) : next();
  };
}

function isPaused(pausedUntil: Map<string, number>, address: string): boolean {
  const until = pausedUntil.get(address);
  if (until === undefined) return false;
  if (until > Date.now()) return true;
  pausedUntil.delete(address);
  return false;
}

async function isWithinLimit(c: Context<AppEnv>, key: string): Promise<boolean> {
  return (await c.env.FLOOD_GUARD.limit({ key })).success;
}
