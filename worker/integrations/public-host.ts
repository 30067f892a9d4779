import { isPublicAddress } from "#worker/lib/network/address.ts";
import { Failure, invalid, SiteHostFailure } from "#worker/lib/errors.ts";
import { callOut, outboundProblem, type OutsideAnswer, type OutsideStatus, statusOf } from "#worker/lib/network/outbound.ts";
import type { SharedDeadline } from "#worker/lib/time/with-timeout.ts";
import { addressesOf } from "./dns.ts";

const MAX_URLS = 1_000;
// With a TTL of 0, hundreds of calls would each resolve the host twice.
const MIN_TTL_MS = 1000;
const MAX_TTL_MS = 5 * 60 * 1000;
const NOT_PUBLIC = "A host that is reachable from the internet";

// Until when URLs are known to resolve only to public addresses (ms since 1970 UTC); not tied to a request.
const known = new Map<string, number>();

/**
 * Why a user-supplied URL may not be called; undefined if it may. Checked when it is saved and again when it is called, because a name may
 * resolve differently by then. Names that can't be resolved are rejected. Development skips the lookup.
 */
export async function publicUrlProblem(env: Env, url: string): Promise<string | undefined> {
  if ((known.get(url) ?? 0) > Date.now()) return undefined;
  const problem = outboundProblem(env, url);
  if (problem !== undefined || env.TIFO_DEVELOPMENT === "true") return problem;
  try {
    const { addresses, ttl } = await addressesOf(env, new URL(url).hostname);
    if (addresses.length === 0) return "A host that has an address";
    if (!addresses.every(isPublicAddress)) return NOT_PUBLIC;
    remember(url, Math.min(Math.max(ttl * 1000, MIN_TTL_MS), MAX_TTL_MS));
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return "Its host can't be resolved right now; try again";
  }
}

/** A 400 at `path` unless the URL may be called. */
export async function requirePublicUrl(env: Env, path: string, url: string): Promise<void> {
  const problem = await publicUrlProblem(env, url);
  if (problem !== undefined) throw invalid(path, problem);
}

/**
 * `callOut` for a user-supplied URL: rejects hosts that resolve to private addresses just before the call. Throws its `unavailable` as a
 * `SiteHostFailure`.
 */
export async function callPublic(env: Env, url: string, ...rest: Rest): Promise<OutsideAnswer> {
  await requirePublicHost(env, url);
  return callSiteHost(env, url, ...rest);
}

/** `callOut` for a host that the site chose among those of a known service. Throws its `unavailable` as a `SiteHostFailure`. */
export async function callSiteHost(env: Env, url: string, ...rest: Rest): Promise<OutsideAnswer> {
  try {
    return await callOut(env, url, ...rest);
  } catch (error) {
    throw error instanceof Failure ? new SiteHostFailure(error.code, error.message, { cause: error.cause }) : error;
  }
}

/** `statusOf` for a user-supplied URL, like `callPublic`. */
export async function publicStatusOf(env: Env, url: string, init: RequestInit, deadline: SharedDeadline): Promise<OutsideStatus> {
  await requirePublicHost(env, url);
  return statusOf(url, init, deadline);
}

// Names that can't be registered (RFC 2606). Demo data uses them; in a deployment they don't resolve.
const RESERVED = /(^|\.)(example|invalid)\.?$/;

async function requirePublicHost(env: Env, url: string): Promise<void> {
  const { hostname } = new URL(url);
  if (env.TIFO_DEVELOPMENT === "true" && RESERVED.test(hostname))
    throw new SiteHostFailure("unavailable", `${hostname} has no address: such names are reserved for examples`);
  const problem = await publicUrlProblem(env, url);
  if (problem !== undefined) throw new SiteHostFailure("unavailable", `The URL may not be called: ${problem}`);
}

type Rest = Parameters<typeof callOut> extends [unknown, unknown, ...infer Others] ? Others : never;

function remember(url: string, ms: number): void {
  if (known.size >= MAX_URLS) known.clear();
  known.set(url, Date.now() + ms);
}
