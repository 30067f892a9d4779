import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { themes } from "#db/schema/themes.ts";
import { newSite } from "#test/harness.ts";
import { siteStore } from "#test/site-store.ts";
import { Theme } from "#worker/services/themes/schemas.ts";
import { shareThemes } from "#worker/services/themes/themes.ts";

const second = createDb(siteStore);

test("the operator's themes are on every shard, and follow their changes and the cron", async () => {
  const site = await newSite();
  const { _id: id } = (await site.call("createDefaultTheme", { body: { name: "Plain", colors: {} } })).as(Theme);
  const there = async () => (await second.select({ name: themes.name }).from(themes).where(eq(themes.id, id))).map(({ name }) => name);
  expect(await there()).toEqual(["Plain"]);
  expect((await site.call("updateDefaultTheme", { params: { id }, body: { name: "Plainer", colors: {} } })).status).toBe(200);
  expect(await there()).toEqual(["Plainer"]);
  // As if the shard were new, or had been away.
  await second.delete(themes).where(eq(themes.id, id));
  await shareThemes({ env });
  expect(await there()).toEqual(["Plainer"]);
  expect((await site.call("deleteTheme", { params: { id } })).status).toBe(403);
});
