import type { Context } from "hono";
import { networkOf } from "#worker/lib/network/address.ts";
import { LIMITS, type LimitName } from "#worker/lib/limits.ts";
import type { Actor } from "#worker/services/core/context.ts";
import { limitHeaders, takeSlot } from "#worker/services/core/limits.ts";
import type { AppEnv } from "./app-env.ts";

/** The address of the caller, as Cloudflare tells it, and of IPv6 the network; the local runtime has none. */
export function callerAddress(c: Context): string {
  return callerNetwork(c) ?? "local";
}

/** The same, or null where nothing tells it. */
export function callerNetwork(c: Context): string | null {
  const address = c.req.header("CF-Connecting-IP");
  return address === undefined ? null : networkOf(address);
}

/** What a limit counts apart for this caller. */
function limitKey(c: Context<AppEnv>, name: LimitName, actor: Actor): string {
  const { per } = LIMITS[name];
  if (per === "site") return "";
  return per === "account" && actor.kind === "account" ? actor.id : callerAddress(c);
}

/** Takes one of an operation's limit; the headers say what is left. */
export async function takeLimit(c: Context<AppEnv>, name: LimitName, actor: Actor): Promise<void> {
  const state = await takeSlot(c.var.ctx, name, limitKey(c, name, actor));
  for (const [header, value] of Object.entries(limitHeaders(name, state))) c.header(header, value);
}
