import { limiterOf } from "#worker/durable-objects/stubs.ts";
import { Failure } from "#worker/lib/errors.ts";
import { LIMITS, type LimitName, type LimitState, sandboxQuota, type Slot } from "#worker/lib/limits.ts";
import { isSandbox } from "#worker/services/sandboxes/is-sandbox.ts";
import { RejectionCache } from "./rejection-cache.ts";
import type { Ctx } from "./context.ts";

/** The limits that this isolate knows to be exhausted. */
export const rejectionCache = new RejectionCache(10_000);
/** How many seconds a rejection is cached that may end before its window does. */
const SHORT_CACHE_SECONDS = 1;

/** Takes one slot of a site's limit for `key`, or throws a 429. */
export async function takeSlot(ctx: Ctx, name: LimitName, key: string): Promise<LimitState> {
  const [state] = await takeSlots(ctx, [{ name, key }]);
  if (!state) throw new Error("The limiter returned no state");
  return state;
}

/** Takes one slot of each limit, all counted by one object, or takes none and throws the 429 of the first exhausted one. */
export async function takeSlots(ctx: Ctx, slots: [Slot, ...Slot[]]): Promise<LimitState[]> {
  const isReduced = await isSandbox(ctx.env, ctx.siteId);
  const quotaOf = (name: LimitName) => (isReduced ? sandboxQuota(name) : LIMITS[name].quota);
  for (const slot of slots) {
    const reset = rejectionCache.find(idOf(ctx, slot), Date.now());
    if (reset !== undefined) throw limitReached(slot.name, { quota: quotaOf(slot.name), remaining: 0, reset });
  }
  const counted = isReduced ? slots.map((slot) => ({ ...slot, quota: sandboxQuota(slot.name) })) : slots;
  const states = await limiterOf(ctx.env, ctx.siteId, slots[0]).takeAll(counted);
  for (const [index, state] of states.entries()) {
    const slot = slots[index];
    if (state.allowed || !slot) continue;
    rejectionCache.add(idOf(ctx, slot), Date.now(), state.reset, state.final ? state.reset : SHORT_CACHE_SECONDS);
    throw limitReached(slot.name, state);
  }
  return states;
}

/** Returns slots that turn out not to count. */
export async function returnSlots(ctx: Ctx, slots: [Slot, ...Slot[]]): Promise<void> {
  for (const slot of slots) rejectionCache.delete(idOf(ctx, slot));
  await limiterOf(ctx.env, ctx.siteId, slots[0]).giveBack(slots);
}

function idOf(ctx: Ctx, { name, key }: Slot): string {
  return `${ctx.siteId} ${name} ${key}`;
}

export interface Budgets {
  own: Slot[];
  all?: LimitName;
  /** A budget shared by all callers that, once exhausted, also blocks callers without misses. */
  most?: LimitName;
}

/** The guess budgets of an account and its address, because new accounts are free. */
export function guessBudgets(accountId: string, address: string, all: LimitName): Budgets {
  return {
    own: [
      { name: "redeem", key: accountId },
      { name: "miss", key: address },
    ],
    all,
  };
}

/**
 * Looks something up by a guessable code: a miss costs one slot of each budget, a hit none. An exhausted `own` budget blocks the
 * lookup. An exhausted `all` budget blocks only callers with misses, so that attackers can't lock others out, and an exhausted
 * `most` budget blocks everybody, so that distributed attackers can't guess a code.
 */
export async function findWithin<T>(ctx: Ctx, { own, all, most }: Budgets, find: () => Promise<T | undefined>): Promise<T | undefined> {
  const taken: Slot[] = [];
  const giveBack = () => Promise.all(taken.map((slot) => returnSlots(ctx, [slot])));
  try {
    let hasMissed = false;
    for (const slot of own) {
      const { quota, remaining } = await takeSlot(ctx, slot.name, slot.key);
      taken.push(slot);
      hasMissed ||= remaining < quota - 1;
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
  } catch (error) {
    // Without a lookup there is no miss.
    await giveBack();
    throw error;
  }
  const found = await find();
  if (found !== undefined) await giveBack();
  return found;
}

/** Returns what remains of a limit without taking a slot. */
export async function peekLimit(ctx: Ctx, name: LimitName, key: string): Promise<LimitState> {
  const quota = (await isSandbox(ctx.env, ctx.siteId)) ? sandboxQuota(name) : LIMITS[name].quota;
  return limiterOf(ctx.env, ctx.siteId, { name, key }).peek(name, key, quota);
}

/** The rate-limit headers of a response (draft-ietf-httpapi-ratelimit-headers). */
export function limitHeaders(name: LimitName, state: Pick<LimitState, "quota" | "remaining" | "reset">): Record<string, string> {
  const { window } = LIMITS[name];
  const { quota } = state;
  return { "RateLimit-Policy": `"${name}";q=${quota};w=${window}`, RateLimit: `"${name}";r=${state.remaining};t=${state.reset}` };
}

function limitReached(name: LimitName, state: Pick<LimitState, "quota" | "remaining" | "reset">): Failure {
  const { description, window, per } = LIMITS[name];
  return new Failure("rate_limited", `${description}: at most ${state.quota} in ${window} s per ${per}; try again in ${state.reset} s`, {
    headers: { "Retry-After": String(state.reset), ...limitHeaders(name, state) },
  });
}
