import type { Context } from "hono";
import { networkOf } from "#worker/lib/network/address.ts";
import { LIMITS, type LimitName } from "#worker/lib/limits.ts";
import type { Actor } from "#worker/services/core/context.ts";
import { limitHeaders, takeSlot } from "#worker/services/core/limits.ts";
import type { AppEnv } from "./app-env.ts";

/** The caller's address from Cloudflare, or its network for IPv6; the local runtime has none. */
export function callerAddress(c: Context): string {
  return callerNetwork(c) ?? "local";
}

/** The same, or null if unknown. */
export function callerNetwork(c: Context): string | null {
  const address = c.req.header("CF-Connecting-IP");
  return address === undefined ? null : networkOf(address);
}

/** The key under which a limit counts this caller. */
function limitKey(c: Context<AppEnv>, name: LimitName, actor: Actor): string {
  const { per } = LIMITS[name];
  if (per === "site") return "";
  return per === "account" && actor.kind === "account" ? actor.id : callerAddress(c);
}

/** Counts a call against an operation's limit and sets the rate-limit headers. */
export async function takeLimit(c: Context<AppEnv>, name: LimitName, actor: Actor): Promise<void> {
  const state = await takeSlot(c.get("ctx"), name, limitKey(c, name, actor));
  for (const [header, value] of Object.entries(limitHeaders(name, state))) c.header(header, value);
}
