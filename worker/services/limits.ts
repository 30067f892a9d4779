import { Failure } from "../lib/errors.ts";
import { LIMITS, type LimitName, type LimitState } from "../lib/limits.ts";
import type { Ctx } from "./context.ts";

/** Takes one of a limit of the site for `key`, or throws the 429. */
export async function takeSlot(ctx: Ctx, name: LimitName, key: string): Promise<LimitState> {
  const state = await ctx.env.LIMITER.getByName(ctx.siteId).take(name, key);
  if (!state.allowed) throw limitReached(name, state);
  return state;
}

/** Gives one back that turned out not to count. */
export async function giveBackSlot(ctx: Ctx, name: LimitName, key: string): Promise<void> {
  await ctx.env.LIMITER.getByName(ctx.siteId).giveBack(name, key);
}

/**
 * Looks for something by a code that others may try to guess: each miss costs one of every budget named, and while one is used up
 * nothing is looked for. A hit costs nothing.
 */
export async function findWithin<T>(
  ctx: Ctx,
  budgets: [LimitName, key: string][],
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const [name, key] of budgets) await takeSlot(ctx, name, key);
  const found = await find();
  if (found !== undefined) await Promise.all(budgets.map(([name, key]) => giveBackSlot(ctx, name, key)));
  return found;
}

/** What is left, without taking any. */
export async function peekLimit(ctx: Ctx, name: LimitName, key: string): Promise<LimitState> {
  return ctx.env.LIMITER.getByName(ctx.siteId).peek(name, key);
}

/** What a limited answer says of what is left (draft-ietf-httpapi-ratelimit-headers). */
export function limitHeaders(name: LimitName, state: LimitState): Record<string, string> {
  const { quota, window } = LIMITS[name];
  return { "RateLimit-Policy": `"${name}";q=${quota};w=${window}`, RateLimit: `"${name}";r=${state.remaining};t=${state.reset}` };
}

function limitReached(name: LimitName, state: LimitState): Failure {
  const { description, quota, window, per } = LIMITS[name];
  return new Failure("rate_limited", `${description}: at most ${quota} in ${window} s per ${per}; try again in ${state.reset} s`, {
    headers: { "Retry-After": String(state.reset), ...limitHeaders(name, state) },
  });
}
