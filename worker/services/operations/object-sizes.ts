import type { z } from "@hono/zod-openapi";
import { orUnavailable } from "#worker/durable-objects/stubs.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { objectsOfSite, siteObjectOf } from "#worker/services/sandboxes/objects.ts";
import { requireSite } from "./failed-effects.ts";
import { MAX_LISTED, type ObjectSizes } from "./schemas.ts";

/** Objects that are asked at most, and how many at a time. */
const MAX_ASKED = 500;
const AT_A_TIME = 10;
const CALL_TIMEOUT_MS = 5_000;

/** What a site's objects store, largest first. Each is woken by the question. Only for the operator. */
export async function listObjectSizes(ctx: Ctx, siteId: string): Promise<z.output<typeof ObjectSizes>> {
  await requireSite(ctx, siteId);
  const all = await orUnavailable(objectsOfSite(ctx.env, siteId), "The site's event log did not respond");
  // The log and its like are listed last.
  const asked = all.slice(-MAX_ASKED);
  const objects: { object: string; name: string; bytes: number }[] = [];
  let unreachable = 0;
  for (const group of inGroups(asked, AT_A_TIME)) {
    const calls = group.map(async ([object, name]) => {
      const stub = siteObjectOf(ctx.env, [object, name]);
      return stub && { object, name, bytes: await withTimeout(stub.storedBytes(), CALL_TIMEOUT_MS) };
    });
    for (const call of await Promise.allSettled(calls)) {
      if (call.status === "rejected") unreachable++;
      else if (call.value) objects.push(call.value);
    }
  }
  return {
    bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0),
    objects: objects.toSorted((one, other) => other.bytes - one.bytes).slice(0, MAX_LISTED),
    asked: asked.length,
    unreachable,
    truncated: all.length > MAX_ASKED,
  };
}
