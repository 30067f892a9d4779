import { Failure } from "#worker/lib/errors.ts";
import { LIMITS, type LimitName, type LimitState, limiterName, type Slot } from "#worker/lib/limits.ts";
import { Refusals } from "./refusals.ts";
import type { Ctx } from "./context.ts";

/** What this isolate knows to be used up. */
export const refusals = new Refusals(10_000);
/** Seconds for which a refusal is remembered that may end before its window does. */
const BRIEFLY = 1;

/** Takes one of a limit of the site for `key`, or throws the 429. */
export async function takeSlot(ctx: Ctx, name: LimitName, key: string): Promise<LimitState> {
  const [state] = await takeSlots(ctx, [{ name, key }]);
  if (!state) throw new Error("No state of the limit");
  return state;
}

/** Takes one of each, which one object counts, or throws the 429 of the first that is used up and takes none. */
export async function takeSlots(ctx: Ctx, slots: [Slot, ...Slot[]]): Promise<LimitState[]> {
  for (const slot of slots) {
    const reset = refusals.find(idOf(ctx, slot), Date.now());
    if (reset !== undefined) throw limitReached(slot.name, { remaining: 0, reset });
  }
  const states = await limiterOf(ctx, slots[0]).takeAll(slots);
  for (const [index, state] of states.entries()) {
    const slot = slots[index];
    if (state.allowed || !slot) continue;
    refusals.add(idOf(ctx, slot), Date.now(), state.reset, state.final ? state.reset : BRIEFLY);
    throw limitReached(slot.name, state);
  }
  return states;
}

/** Gives back what turned out not to count. */
export async function giveBackSlots(ctx: Ctx, slots: [Slot, ...Slot[]]): Promise<void> {
  for (const slot of slots) refusals.delete(idOf(ctx, slot));
  await limiterOf(ctx, slots[0]).giveBack(slots);
}

function limiterOf(ctx: Ctx, slot: Slot) {
  return ctx.env.LIMITER.getByName(limiterName(ctx.siteId, slot));
}

function idOf(ctx: Ctx, { name, key }: Slot): string {
  return `${ctx.siteId} ${name} ${key}`;
}

export interface Budgets {
  own: Slot[];
  all?: LimitName;
  /** A budget of all callers whose end stops those as well who have missed nothing. */
  most?: LimitName;
}

/** What an account may guess of codes, at its address too: accounts cost nothing. */
export function guessesOf(accountId: string, address: string, all: LimitName): Budgets {
  return {
    own: [
      { name: "redeem", key: accountId },
      { name: "miss", key: address },
    ],
    all,
  };
}

/**
 * Looks for something by a code that others may try to guess: each miss costs one of every budget named, a hit nothing. While one of the
 * caller's `own` is used up, nothing is looked for; that of `all` stops whoever has missed before, so that no crowd locks others out, and
 * that of `most` everybody, so that no crowd of newcomers finds what can be guessed.
 */
export async function findWithin<T>(ctx: Ctx, { own, all, most }: Budgets, find: () => Promise<T | undefined>): Promise<T | undefined> {
  const taken: Slot[] = [];
  const giveBack = () => Promise.all(taken.map((slot) => giveBackSlots(ctx, [slot])));
  try {
    let hasMissed = false;
    for (const slot of own) {
      const { remaining } = await takeSlot(ctx, slot.name, slot.key);
      taken.push(slot);
      hasMissed ||= remaining < LIMITS[slot.name].quota - 1;
    }
    if (most !== undefined) {
      const slot: Slot = { name: most, key: "" };
      await takeSlots(ctx, [slot]);
      taken.push(slot);
    }
    if (all !== undefined) {
      const shared: Slot = { name: all, key: "" };
      try {
        await takeSlots(ctx, [shared]);
        taken.push(shared);
      } catch (error) {
        if (hasMissed || !(error instanceof Failure)) throw error;
      }
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
  return limiterOf(ctx, { name, key }).peek(name, key);
}

/** What a limited answer says of what is left (draft-ietf-httpapi-ratelimit-headers). */
export function limitHeaders(name: LimitName, state: Pick<LimitState, "remaining" | "reset">): Record<string, string> {
  const { quota, window } = LIMITS[name];
  return { "RateLimit-Policy": `"${name}";q=${quota};w=${window}`, RateLimit: `"${name}";r=${state.remaining};t=${state.reset}` };
}

function limitReached(name: LimitName, state: Pick<LimitState, "remaining" | "reset">): Failure {
  const { description, quota, window, per } = LIMITS[name];
  return new Failure("rate_limited", `${description}: at most ${quota} in ${window} s per ${per}; try again in ${state.reset} s`, {
    headers: { "Retry-After": String(state.reset), ...limitHeaders(name, state) },
  });
}
