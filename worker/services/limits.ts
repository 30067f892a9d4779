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

type Slot = [name: LimitName, key: string];

interface Budgets {
  own: Slot[];
  all?: LimitName;
}

/** What an account may guess of codes, at its address too: accounts cost nothing. */
export function guessesOf(accountId: string, address: string, all: LimitName): Budgets {
  return {
    own: [
      ["redeem", accountId],
      ["miss", address],
    ],
    all,
  };
}

/**
 * Looks for something by a code that others may try to guess: each miss costs one of every budget named, a hit nothing. While one of the
 * caller's `own` is used up, nothing is looked for; that of `all` stops whoever has missed before, so that no crowd locks others out.
 */
export async function findWithin<T>(ctx: Ctx, { own, all }: Budgets, find: () => Promise<T | undefined>): Promise<T | undefined> {
  const taken: Slot[] = [];
  const giveBack = () => Promise.all(taken.map(([name, key]) => giveBackSlot(ctx, name, key)));
  try {
    let hasMissed = false;
    for (const [name, key] of own) {
      const { remaining } = await takeSlot(ctx, name, key);
      taken.push([name, key]);
      hasMissed ||= remaining < LIMITS[name].quota - 1;
    }
    if (all !== undefined) {
      const shared = await ctx.env.LIMITER.getByName(ctx.siteId).take(all, "");
      if (shared.allowed) taken.push([all, ""]);
      else if (hasMissed) throw limitReached(all, shared);
    }
  } catch (refusal) {
    // What was never looked for is no miss.
    await giveBack();
    throw refusal;
  }
  const found = await find();
  if (found !== undefined) await giveBack();
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
