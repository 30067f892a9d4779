import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createDb } from "#db/client.ts";
import { intents } from "#db/schema/accounts.ts";
import { invites } from "#db/schema/invites.ts";
import { exhaustLimit, resetLimit } from "#test/limit-usage.ts";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { LIMITS } from "#worker/lib/limits.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { Invite } from "#worker/services/invites/schemas.ts";
import { openMagicLink, intentOf, inviteCalls, problemOf } from "#test/invites.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const Invites = listOf(Invite);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await addSkus(site, "vip", "press", "before", "after", "more", "new");
});

const { create, newInvite, reread, redeem, signedIn, eventsOf } = inviteCalls(() => site);

describe("a magic link", () => {
  test("is created with a token of six letters and digits, valid for seven days", async () => {
    const before = Date.now();
    const invite = await newInvite({ targetSkus: ["vip", "vip", "press"], tags: ["derby"] });
    expect(invite).toMatchObject({
      siteId: site.id,
      type: "magic-link",
      consumed: false,
      revoked: false,
      accountId: null,
      tags: ["derby"],
    });
    expect(invite.token).toMatch(/^[A-Za-z0-9]{6}$/);
    expect(invite.inviteUrl).toBe(`${ORIGIN}/invite/v1/magic-link/${invite.token}`);
    expect(invite.targetSkus).toEqual(["vip", "press"]);
    expect(invite.expiresAt - before).toBeGreaterThanOrEqual(7 * DAY);
    expect(invite.expiresAt - Date.now()).toBeLessThanOrEqual(7 * DAY);
  });

  test("can be read again with its token, which is neither stored nor logged in plain text", async () => {
    const invite = await newInvite();
    expect(await reread(invite._id)).toEqual(invite);
    const [row] = await db.select().from(invites).where(eq(invites.id, invite._id));
    expect(JSON.stringify(row)).not.toContain(invite.token);
    const { text } = await site.call("listEvents", { query: { limit: 200 } });
    expect(text).toContain(invite._id);
    expect(text).not.toContain(invite.token);
  });

  test.for([
    ["an origin that is not allowed", { redirectUri: "https://evil.example/welcome" }, "redirectUri"],
    ["a look-alike of an allowed origin", { redirectUri: "https://demo.example.evil.example/" }, "redirectUri"],
    ["an allowed origin in the credentials part of a URL", { redirectUri: "https://demo.example@evil.example/" }, "redirectUri"],
    ["a javascript: URL", { redirectUri: "javascript:alert(1)" }, "redirectUri"],
    ["no skus", { targetSkus: [] }, "targetSkus"],
    ["another site", { siteId: "5eed00000000000000000009" }, "siteId"],
    ["an expiry in the past", { expiresAt: 1000 }, "expiresAt"],
    ["an expiry too far in the future", { expiresAt: 4_000_000_000_000 }, "expiresAt"],
  ] as const)("is rejected for %s", async ([, change, path]) => {
    const { status, problem } = await create(change);
    expect([status, problem?.issues?.[0]?.path]).toEqual([400, path]);
  });

  test("is rejected with the message format that integrators rely on", async () => {
    const { problem } = await create({ redirectUri: "https://evil.example/" });
    expect(problem?.message).toBe(
      "Create Invite in Invite Service failed - Its origin is not among the site's settings.security.allowedOrigins",
    );
  });
});

describe("opening a magic link", () => {
  test("redirects to redirectUri with an intent and no referrer, and marks the invite consumed", async () => {
    const invite = await newInvite();
    const response = await openMagicLink(invite.token);
    expect(response.status).toBe(302);
    const target = new URL(response.headers.get("Location") ?? "");
    expect(target.origin + target.pathname).toBe("https://demo.example/welcome");
    expect(target.searchParams.get("from")).toBe("email");
    expect(target.searchParams.get("intent")).toMatch(/^[\w-]{43}$/);
    expect(response.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect((await reread(invite._id)).consumed).toBe(true);
    expect(await eventsOf(invite._id)).toEqual(["invite.created", "invite.consumed"]);
  });

  test.for([
    ["a HEAD request", {}, "HEAD"],
    ["a prefetch", { "Sec-Purpose": "prefetch" }, "GET"],
    ["a prerender", { "Sec-Purpose": "prefetch;prerender" }, "GET"],
    ["an older prefetch", { Purpose: "prefetch" }, "GET"],
    ["a preview", { "X-Purpose": "preview" }, "GET"],
  ] as const)("is not triggered by %s", async ([, headers, method]) => {
    const invite = await newInvite();
    const response = await openMagicLink(invite.token, headers, method);
    expect([response.status, response.headers.get("Location")]).toEqual([204, null]);
    expect((await reread(invite._id)).consumed).toBe(false);
    expect(await db.select().from(intents).where(eq(intents.sourceId, invite._id))).toEqual([]);
  });

  test("is possible again until an intent is redeemed, so that link scanners don't use it up", async () => {
    const invite = await newInvite();
    await intentOf(invite.token);
    const intent = await intentOf(invite.token);
    expect((await redeem(intent)).status).toBe(200);
    expect(await problemOf(await openMagicLink(invite.token))).toEqual({
      status: 400,
      message: "Consume Invite in Invite Service failed - The invite has already been redeemed",
    });
    expect(await eventsOf(invite._id)).toEqual(["invite.created", "invite.consumed", "invite.redeemed"]);
  });

  test("is logged once if concurrent visitors open it, each with their own intent", async () => {
    const invite = await newInvite();
    const found = await Promise.all(Array.from({ length: 4 }, () => intentOf(invite.token)));
    expect(new Set(found).size).toBe(4);
    expect(await eventsOf(invite._id)).toEqual(["invite.created", "invite.consumed"]);
  });

  test("fails for a token in a different case and for an unknown token", async () => {
    const { token } = await newInvite();
    const swapped = [...token].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
    for (const other of [swapped === token ? "000000" : swapped, "zzzzzz"]) expect((await openMagicLink(other)).status).toBe(404);
  });

  test("fails once it has expired", async () => {
    const invite = await newInvite();
    await db
      .update(invites)
      .set({ expires: Date.now() - 1 })
      .where(eq(invites.id, invite._id));
    expect((await problemOf(await openMagicLink(invite.token))).message).toBe(
      "Consume Invite in Invite Service failed - The invite has expired",
    );
  });

  test("fails once the site has removed the origin from its list", async () => {
    const own = await newSite();
    await addSkus(own, "vip");
    const body = { redirectUri: "https://demo.example/welcome", siteId: own.id, targetSkus: ["vip"] };
    const { token } = (await own.call("createInvite", { body })).as(Invite);
    await own.call("updateSite", { body: { name: "Moved", settings: { security: { allowedOrigins: ["https://new.example"] } } } });
    expect((await problemOf(await openMagicLink(token))).status).toBe(400);
    expect(await db.$count(intents, eq(intents.siteId, own.id))).toBe(0);
  });

  test("is blocked for an address that has tried too many unknown tokens, and for no other", async () => {
    const invite = await newInvite();
    const guesser = { "CF-Connecting-IP": `198.51.100.${randomHex(4)}` };
    for (let i = 0; i < LIMITS.missLink.quota; i++) expect((await openMagicLink(`guess${i % 10}`, guesser)).status).toBe(404);
    expect((await openMagicLink(invite.token, guesser)).status).toBe(429);
    expect((await openMagicLink(invite.token)).status).toBe(302);
  });

  test("stays possible for an address without misses when the deployment's guess budget is used up", async () => {
    const invite = await newInvite();
    const from = (address: string) => ({ "CF-Connecting-IP": address });
    expect((await openMagicLink("guess0", from("198.51.100.40"))).status).toBe(404);
    await exhaustLimit(GLOBAL_AUDIENCE, "guessLink", "");
    onTestFinished(() => resetLimit(GLOBAL_AUDIENCE, "guessLink", ""));
    expect((await openMagicLink(invite.token, from("198.51.100.40"))).status).toBe(429);
    expect((await openMagicLink(invite.token, from("198.51.100.41"))).status).toBe(302);
    // Each address has one guess left.
    expect((await openMagicLink("guess1", from("198.51.100.42"))).status).toBe(404);
    expect((await openMagicLink("guess2", from("198.51.100.42"))).status).toBe(429);
  });
});

describe("distributed guesses", () => {
  test("are limited for the whole deployment, even from addresses without misses", async () => {
    const invite = await newInvite();
    await exhaustLimit(GLOBAL_AUDIENCE, "guessLinkAtMost", "");
    onTestFinished(() => resetLimit(GLOBAL_AUDIENCE, "guessLinkAtMost", ""));
    expect((await openMagicLink(invite.token, { "CF-Connecting-IP": "198.51.100.60" })).status).toBe(429);
    await resetLimit(GLOBAL_AUDIENCE, "guessLinkAtMost", "");
    expect((await openMagicLink(invite.token, { "CF-Connecting-IP": "198.51.100.60" })).status).toBe(302);
  });

  test("don't block links with long tokens, which a site may require", async () => {
    const own = await newSite();
    const security = { allowedOrigins: ["https://demo.example"], longInviteTokens: true };
    await own.call("updateSite", { body: { name: "Long", settings: { security } } });
    await addSkus(own, "vip");
    const body = { redirectUri: "https://demo.example/welcome", siteId: own.id, targetSkus: ["vip"] };
    const { token, inviteUrl } = (await own.call("createInvite", { body })).as(Invite);
    expect(token).toMatch(/^[A-Za-z0-9]{22}$/);
    expect(inviteUrl.endsWith(token)).toBe(true);
    for (const name of ["guessLink", "guessLinkAtMost"] as const) {
      await exhaustLimit(GLOBAL_AUDIENCE, name, "");
      onTestFinished(() => resetLimit(GLOBAL_AUDIENCE, name, ""));
    }
    const guesser = { "CF-Connecting-IP": "198.51.100.61" };
    expect((await openMagicLink("a".repeat(22), guesser)).status).toBe(404);
    expect((await openMagicLink(token, guesser)).status).toBe(302);
  });
});

describe("updating and deleting an invite", () => {
  test("keeps the link on update, and applies the new redirect and skus", async () => {
    const invite = await newInvite();
    const before = await intentOf(invite.token);
    const body = { redirectUri: "https://demo.example/other", targetSkus: ["new"], tags: ["late"] };
    const changed = (await site.call("updateInvite", { params: { id: invite._id }, body })).as(Invite);
    expect(changed).toMatchObject({ ...body, token: invite.token, expiresAt: invite.expiresAt, consumed: true });
    expect((await openMagicLink(invite.token)).headers.get("Location")).toContain("https://demo.example/other?intent=");
    expect((await signedIn(before)).account.subscriptions).toEqual(["new"]);
  });

  test("keeps an expiry that is over, and rejects another one", async () => {
    const { _id, redirectUri, targetSkus } = await newInvite();
    const expires = Date.now() - HOUR;
    await db.update(invites).set({ expires }).where(eq(invites.id, _id));
    const update = (expiresAt: number) =>
      site.call("updateInvite", { params: { id: _id }, body: { redirectUri, targetSkus, tags: ["late"], expiresAt } });
    expect((await update(expires)).as(Invite)).toMatchObject({ tags: ["late"], expiresAt: expires });
    expect((await update(expires + 1)).problem?.issues).toMatchObject([{ path: "expiresAt" }]);
  });

  test("rejects an update with a stale If-Match", async () => {
    const invite = await newInvite();
    const body = { redirectUri: invite.redirectUri, targetSkus: ["new"] };
    const headers = { "If-Match": '"v7"' };
    expect((await site.call("updateInvite", { params: { id: invite._id }, body, headers })).status).toBe(412);
  });

  test("deletes the invite with its link and its intents", async () => {
    const invite = await newInvite();
    const intent = await intentOf(invite.token);
    expect((await site.call("deleteInvite", { params: { id: invite._id } })).body).toEqual({ success: true, _id: invite._id });
    expect((await site.call("getInvite", { params: { id: invite._id } })).status).toBe(404);
    expect((await openMagicLink(invite.token)).status).toBe(404);
    expect((await redeem(intent)).status).toBe(404);
  });
});

test("the list of invites filters by consumed and revoked", async () => {
  const own = await newSite();
  const make = async () => {
    await addSkus(own, "vip");
    const body = { redirectUri: "https://demo.example/", siteId: own.id, targetSkus: ["vip"] };
    return (await own.call("createInvite", { body })).as(Invite);
  };
  const [fresh, opened, revoked] = [await make(), await make(), await make()];
  await openMagicLink(opened.token);
  await own.call("revokeInvite", { params: { id: revoked._id } });
  const ids = async (query: Record<string, boolean>) =>
    (await own.call("listInvites", { query })).as(Invites).results.map((invite) => invite._id);
  expect(await ids({})).toEqual([revoked._id, opened._id, fresh._id]);
  expect(await ids({ consumed: true })).toEqual([opened._id]);
  expect(await ids({ consumed: false, revoked: false })).toEqual([fresh._id]);
  expect(await ids({ revoked: true })).toEqual([revoked._id]);
});
