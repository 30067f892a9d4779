import { expect, test } from "vitest";
import { newSite } from "#test/harness.ts";
import { shard } from "#test/site-store.ts";

// test/shards/site-moves.test.ts moves sites between two databases.

test.runIf(shard === 1)("a deployment with one database moves no site", async () => {
  const site = await newSite();
  const params = { siteId: site.id };
  const moved = await site.call("moveSite", { params, body: { shard: 2 } });
  expect([moved.status, moved.problem?.message]).toEqual([409, "The deployment has one database"]);
  for (const operation of ["getSiteMove", "cancelSiteMove"]) expect((await site.call(operation, { params })).status).toBe(404);
});
