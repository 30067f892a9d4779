import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, inject, test } from "vitest";
import { createDb } from "#db/client.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { eraseSandboxes } from "#worker/services/sandboxes/expiry.ts";
import { createSandbox } from "#worker/services/sandboxes/sandboxes.ts";
import { LIFETIME_MS } from "#worker/services/sandboxes/schemas.ts";
import { resetLimit } from "../limit-usage.ts";
import { tables } from "../tables.ts";
import { siteStore } from "#test/site-store.ts";

// `npm run soak` runs 100 generations of 100: ten thousand sandboxes.
const CAPACITY = Number(env.TIFO_SANDBOXES);
const generations = Array.from({ length: inject("sandboxGenerations") }, (_, index) => index);
const MINUTE = 60_000;

const db = createDb(siteStore);
let now = Date.now();
let empty: number;
let full: number | undefined;

beforeAll(async () => {
  empty = await rowCount();
});

beforeEach(async () => {
  await resetLimit(GLOBAL_AUDIENCE, "createSandboxes", "");
});

/** The rows of all tables. */
async function rowCount(): Promise<number> {
  const counts = await Promise.all(tables.map((table) => db.select({ rows: sql<number>`count(*)` }).from(table)));
  return counts.reduce((sum, [count]) => sum + (count?.rows ?? 0), 0);
}

/** As the request of a visitor whom nobody has seen before, at the simulated time. */
async function create(visitor: string): Promise<string> {
  const ctx: Ctx = {
    ...{ env, db, now, siteId: GLOBAL_AUDIENCE, requestId: `test.${visitor}`, ifMatch: undefined, deviceId: undefined },
    caller: async () => ({ kind: "system" }),
    emitted: { siteIds: new Set(), completedEventIds: [] },
    defer: () => undefined,
  };
  const { site } = await createSandbox(ctx, visitor);
  await siteLogOf(env, site.id).nudge();
  return site.id;
}

test.each(generations)(
  "generation %i of sandboxes fills the room that there is, and leaves nothing when it expires",
  async (generation) => {
    const siteIds = new Set<string>();
    for (let index = 0; index < CAPACITY; index++) siteIds.add(await create(`${generation}.${index}`));
    expect(siteIds.size).toBe(CAPACITY);
    await expect(create(`${generation}.more`)).rejects.toMatchObject({ code: "unavailable" });
    // Each generation takes as much as the first.
    const rows = await rowCount();
    full ??= rows;
    expect(rows).toBe(full);

    now += LIFETIME_MS;
    // Each run of the cron takes one of three steps for at most 20 sandboxes.
    for (let run = 0; run < Math.ceil(CAPACITY / 20) * 4 && (await rowCount()) > empty; run++) {
      now += MINUTE;
      await eraseSandboxes({ env, db, now });
    }
    expect(await rowCount()).toBe(empty);
  },
);
