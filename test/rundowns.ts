import { env } from "cloudflare:workers";
import type { z } from "@hono/zod-openapi";
import { runDueRundowns } from "#worker/services/rundowns/due.ts";
import { AsRunList, Rundown, RundownCleared, Take } from "#worker/services/rundowns/schemas.ts";
import { broadcastCalls } from "./broadcasts.ts";
import type { ApiResponse, CallOptions, TestSite } from "./harness.ts";

type ItemInput = Record<string, unknown>;

/** What tests do with rundowns, on the site that `site` returns by then. */
export function rundownsOf(site: () => TestSite) {
  const { newOverlay, active } = broadcastCalls(site);

  const note = (name = "Kick-off"): ItemInput => ({ kind: "note", name });

  async function goal(change: ItemInput = {}): Promise<ItemInput> {
    return { kind: "broadcast", name: "Goal", overlayId: await newOverlay(), broadcast: { variables: { scorer: "Ada" } }, ...change };
  }

  async function newRundown(items?: ItemInput[], options: CallOptions = {}) {
    const body = { channelId: site().channels[0], name: "Derby", items: items ?? [await goal()] };
    return (await site().call("createRundown", { ...options, body })).as(Rundown);
  }

  const read = async (id: string) => (await site().call("getRundown", { params: { id } })).as(Rundown);
  const tryTake = (id: string, body: Record<string, unknown> = {}, options: CallOptions = {}): Promise<ApiResponse> =>
    site().call("takeRundownItem", { ...options, params: { id }, body });
  const take = async (id: string, body: Record<string, unknown> = {}, options: CallOptions = {}) =>
    (await tryTake(id, body, options)).as(Take);
  const clear = async (id: string, body: Record<string, unknown> = {}) =>
    (await site().call("clearRundown", { params: { id }, body })).as(RundownCleared).broadcastIds;
  const asRun = async (id: string, query: Record<string, string> = {}) =>
    (await site().call("listAsRun", { params: { id }, query })).as(AsRunList).results;
  const replace = (rundown: z.output<typeof Rundown>, items: ItemInput[], options: CallOptions = {}) =>
    site().call("replaceRundown", { ...options, params: { id: rundown._id }, body: { name: rundown.name, items } });
  const patch = async (id: string, body: Record<string, unknown>) =>
    (await site().call("patchRundown", { params: { id }, body })).as(Rundown);
  /** Runs what is due at that time, as the site's scheduler does, twice at once. */
  const run = (now: number) => Promise.all([runDueRundowns(env, site().id, now), runDueRundowns(env, site().id, now)]);
  const onAir = async (channelId = site().channels[0]) => (await active({ channelId })).map(({ broadcastId }) => broadcastId);

  return { note, goal, newRundown, read, tryTake, take, clear, asRun, replace, patch, run, onAir, newOverlay };
}
