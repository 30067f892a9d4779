import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { type Caller, waitForViewerCount, newSite, openSocket, PASSWORD } from "#test/harness.ts";
import { LIMITS, limiterName, type Slot } from "#worker/lib/limits.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { ConcurrentsList, LimitList } from "#worker/services/insights/schemas.ts";

describe("concurrents", () => {
  test("count connected viewers by channel, and each device once per day", async () => {
    const [site, empty] = [await newSite(), await newSite()];
    const [first, second] = site.channels;
    const viewers = await Promise.all([
      openSocket(site, first, { deviceId: "phone" }),
      openSocket(site, first, { deviceId: "tv" }),
      openSocket(site, second, { deviceId: "phone" }),
      openSocket(site, second),
    ]);
    await waitForViewerCount(site, 4);
    const read = async () =>
      (await site.call("getConcurrents", { query: { siteIds: `${site.id}, ${empty.id},${site.id}` } })).as(ConcurrentsList);
    const [busy, idle] = await read();
    expect(busy).toMatchObject({ siteId: site.id, concurrents: 4, totalViews: 2 });
    expect(busy?.channels.sort((one, other) => one.slug.localeCompare(other.slug))).toEqual([
      { _id: second, slug: "backstage", concurrents: 2 },
      { _id: first, slug: "main-stage", concurrents: 2 },
    ]);
    expect(idle).toEqual({ siteId: empty.id, concurrents: 0, totalViews: 0, channels: [] });
    for (const viewer of viewers) viewer.close();
    await waitForViewerCount(site, 0);
    expect((await read())[0]).toMatchObject({ concurrents: 0, totalViews: 2 });
  });

  test.for(["", ",", "demo", Array.from({ length: 51 }, (_, i) => newId(i)).join(",")])(
    "reject the invalid site list %#",
    async (siteIds) => {
      const response = await (await newSite()).call("getConcurrents", { query: { siteIds } });
      expect(response.status).toBe(400);
      expect(response.fields[0]).toMatch(/^siteIds/);
    },
  );
});

describe("limits", () => {
  test("are all listed, with what remains for this caller", async () => {
    const site = await newSite();
    const read = async (address: string) => {
      const response = await site.call("getLimits", { headers: { "CF-Connecting-IP": address } });
      return new Map(response.as(LimitList).limits.map((limit) => [limit.name, limit]));
    };
    expect([...(await read("192.0.2.1")).keys()]).toEqual(Object.keys(LIMITS));
    const body = { email: `${randomHex(5)}@viewers.example`, password: PASSWORD, name: "Vera" };
    await site.call("createAccount", { body, headers: { "CF-Connecting-IP": "192.0.2.1" } });
    const { quota, window } = LIMITS.createAccount;
    expect((await read("192.0.2.1")).get("createAccount")).toMatchObject({ limit: quota, window, remaining: quota - 1 });
    expect((await read("192.0.2.2")).get("createAccount")).toMatchObject({ remaining: quota, reset: window });
  });

  test("counted per account are reported to that account only", async () => {
    const site = await newSite();
    const [channelId] = site.channels;
    for (let i = 0; i < 3; i++) await site.call("createTicket", { as: "viewer", body: { channelId } });
    const remaining = async (as: Caller) => {
      const { limits } = (await site.call("getLimits", { as })).as(LimitList);
      return limits.find(({ name }) => name === "ticket");
    };
    const { quota, window } = LIMITS.ticket;
    expect(await remaining("viewer")).toMatchObject({ limit: quota, window, remaining: quota - 3 });
    expect(await remaining("creator")).toMatchObject({ remaining: quota });
    expect(await remaining("client")).toMatchObject({ remaining: null, reset: null });
  });

  test("of the whole deployment are reported, and those per account and address are null", async () => {
    const site = await newSite();
    const { limits } = (await site.call("getLimits", { as: "client" })).as(LimitList);
    const before = limits.find(({ name }) => name === "guessLink")?.remaining ?? 0;
    const missed: Slot = { name: "guessLink", key: "" };
    await env.LIMITER.getByName(limiterName(GLOBAL_AUDIENCE, missed)).takeAll([missed]);
    const after = (await site.call("getLimits", { as: "client" })).as(LimitList).limits;
    expect(after.find(({ name }) => name === "guessLink")?.remaining).toBeLessThan(before);
    expect(after.find(({ name }) => name === "signIn")?.remaining).toBeNull();
  });
});
