import { isPublicAddress } from "#worker/lib/network/address.ts";
import { Failure, invalid } from "#worker/lib/errors.ts";
import { callOut, outboundProblem, type OutsideAnswer, statusOf } from "#worker/lib/network/outbound.ts";
import type { SharedDeadline } from "#worker/lib/time/with-timeout.ts";
import { addressesOf } from "./dns.ts";

const MOST_URLS = 1_000;
// An answer that holds for no time at all would have the resolver asked twice for each of hundreds of calls.
const SHORTEST_MS = 1000;
const LONGEST_MS = 5 * 60 * 1000;
const NOT_PUBLIC = "A host that is reachable from the internet";

// Until when URLs are known to lead to public addresses alone (ms since 1970 UTC); they belong to no request.
const known = new Map<string, number>();

/**
 * Why a URL that somebody gave may not be called; undefined when it may. Asked when it is saved and again when it is called, since a name
 * may lead elsewhere by then. A name that the resolver can't tell of may not. In development no resolver is asked.
 */
export async function publicUrlProblem(env: Env, url: string): Promise<string | undefined> {
  if ((known.get(url) ?? 0) > Date.now()) return undefined;
  const problem = outboundProblem(env, url);
  if (problem !== undefined || env.TIFO_DEVELOPMENT === "true") return problem;
  try {
    const { addresses, ttl } = await addressesOf(env, new URL(url).hostname);
    if (addresses.length === 0) return "A host that has an address";
    if (!addresses.every(isPublicAddress)) return NOT_PUBLIC;
    remember(url, Math.min(Math.max(ttl * 1000, SHORTEST_MS), LONGEST_MS));
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return "Where its host is can't be told just now; try again";
  }
}

/** A 400 at `path` unless the URL may be called. */
export async function requirePublicUrl(env: Env, path: string, url: string): Promise<void> {
  const problem = await publicUrlProblem(env, url);
  if (problem !== undefined) throw invalid(path, problem);
}

/** `callOut` for a URL that somebody gave: refuses one whose host does not lead to the internet, as far as can be told before the call. */
export async function callPublic(env: Env, url: string, ...rest: Rest): Promise<OutsideAnswer> {
  await refuseInside(env, url);
  return callOut(env, url, ...rest);
}

/** `statusOf` for a URL that somebody gave, as `callPublic`. */
export async function publicStatusOf(env: Env, url: string, init: RequestInit, deadline: SharedDeadline): Promise<number> {
  await refuseInside(env, url);
  return statusOf(url, init, deadline);
}

// Names that nobody can register (RFC 2606). Demo data uses them; a deployment refuses them when it asks its resolver.
const RESERVED = /(^|\.)(example|invalid)\.?$/;

async function refuseInside(env: Env, url: string): Promise<void> {
  const { hostname } = new URL(url);
  if (env.TIFO_DEVELOPMENT === "true" && RESERVED.test(hostname))
    throw new Failure("unavailable", `${hostname} has no address: such names are reserved for examples`);
  const problem = await publicUrlProblem(env, url);
  if (problem !== undefined) throw new Failure("unavailable", `The URL may not be called: ${problem}`);
}

type Rest = Parameters<typeof callOut> extends [unknown, unknown, ...infer Others] ? Others : never;

function remember(url: string, ms: number): void {
  if (known.size >= MOST_URLS) known.clear();
  known.set(url, Date.now() + ms);
}
