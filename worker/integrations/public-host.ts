import { isPublicAddress } from "../lib/address.ts";
import { Failure, invalid } from "../lib/errors.ts";
import { callOut, outboundProblem, type OutsideAnswer } from "../lib/outbound.ts";
import { addressesOf } from "./dns.ts";

const MOST_HOSTS = 1_000;
// An answer that holds for no time at all would have the resolver asked twice for each of hundreds of calls.
const SHORTEST_MS = 1000;
const LONGEST_MS = 5 * 60 * 1000;
const NOT_PUBLIC = "A host that is reachable from the internet";

// Until when hosts are known to lead to public addresses alone (ms since 1970 UTC); they belong to no request.
const known = new Map<string, number>();

/**
 * Why a URL that somebody gave may not be called; undefined when it may. Asked when it is saved and again when it is called, since a name
 * may lead elsewhere by then. A name that the resolver can't tell of may not. In development no resolver is asked.
 */
export async function publicUrlProblem(env: Env, url: string): Promise<string | undefined> {
  const problem = outboundProblem(env, url);
  if (problem !== undefined || env.TIFO_DEVELOPMENT === "true") return problem;
  const { hostname } = new URL(url);
  if ((known.get(hostname) ?? 0) > Date.now()) return undefined;
  try {
    const { addresses, ttl } = await addressesOf(env, hostname);
    if (addresses.length === 0) return "A host that has an address";
    if (!addresses.every(isPublicAddress)) return NOT_PUBLIC;
    remember(hostname, Math.min(Math.max(ttl * 1000, SHORTEST_MS), LONGEST_MS));
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
  const problem = await publicUrlProblem(env, url);
  if (problem !== undefined) throw new Failure("unavailable", `The URL may not be called: ${problem}`);
  return callOut(env, url, ...rest);
}

type Rest = Parameters<typeof callOut> extends [unknown, unknown, ...infer Others] ? Others : never;

function remember(hostname: string, ms: number): void {
  if (known.size >= MOST_HOSTS) known.clear();
  known.set(hostname, Date.now() + ms);
}
