import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { accountEntitlements, intents, invites } from "#db/schema/index.ts";
import { exhaust, renew } from "#test/exhaust.ts";
import { type Answer, newSite, openSocket, ORIGIN, type TestSite } from "#test/harness.ts";
import { sell } from "#test/stock.ts";
import { interrupted } from "#test/interrupted.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { LIMITS } from "#worker/lib/limits.ts";
import { consumeIntent } from "#worker/services/auth/intents.ts";
import { revokeInvite } from "#worker/services/invites/invites.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { ConsumedIntent } from "#worker/services/auth/schemas.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Invite } from "#worker/services/invites/schemas.ts";

const db = createDb(env.DB);
const Invites = listOf(Invite);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await sell(site, "vip", "press", "before", "after", "more", "new");
});

function create(change: Record<string, unknown> = {}): Promise<Answer> {
  const body = { redirectUri: "https://demo.example/welcome?from=mail", siteId: site.id, targetSkus: ["vip"], ...change };
  return site.call("createInvite", { body });
}

async function newInvite(change: Record<string, unknown> = {}) {
  return (await create(change)).as(Invite);
}

async function reread(id: string) {
  return (await site.call("getInvite", { params: { id } })).as(Invite);
}

/** Follows a link as a browser would. */
function follow(token: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return exports.default.fetch(`${ORIGIN}/invite/v1/magic-link/${token}`, {
    method,
    redirect: "manual",
    headers: { "CF-Connecting-IP": `192.0.2.${randomHex(4)}`, ...headers },
  });
}

/** Opens a link and returns its intent. */
async function intentOf(token: string): Promise<string> {
  const response = await follow(token);
  expect(response.status).toBe(302);
  return new URL(response.headers.get("Location") ?? "").searchParams.get("intent") ?? "";
}

function redeem(intent: string): Promise<Answer> {
  return site.call("consumeIntent", { as: "client", params: { token: intent } });
}

/** Redeems an intent and returns the account that it signs in. */
async function signedIn(intent: string): Promise<{ account: z.output<typeof Account>; headers: Record<string, string> }> {
  const { jwt } = (await redeem(intent)).as(ConsumedIntent);
  const { sub = "" } = z.object({ sub: z.string() }).parse(JSON.parse(atob(jwt.split(".")[1] ?? "")));
  const headers = { Authorization: `Bearer ${jwt}` };
  const account = (await site.call("getAccount", { as: "client", params: { id: sub }, headers })).as(Account);
  return { account, headers };
}

async function problemOf(response: Response): Promise<{ status: number; message: string }> {
  const { message } = z.object({ message: z.string() }).parse(await response.json());
  return { status: response.status, message };
}

async function eventsOf(id: string): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter((event) => event.resource === `invite/${id}`).map((event) => event.type);
}

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
    const response = await follow(invite.token);
    expect(response.status).toBe(302);
    const target = new URL(response.headers.get("Location") ?? "");
    expect(target.origin + target.pathname).toBe("https://demo.example/welcome");
    expect(target.searchParams.get("from")).toBe("mail");
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
    const response = await follow(invite.token, headers, method);
    expect([response.status, response.headers.get("Location")]).toEqual([204, null]);
    expect((await reread(invite._id)).consumed).toBe(false);
    expect(await db.select().from(intents).where(eq(intents.sourceId, invite._id))).toEqual([]);
  });

  test("is possible again until an intent is redeemed, so that link scanners don't use it up", async () => {
    const invite = await newInvite();
    await intentOf(invite.token);
    const intent = await intentOf(invite.token);
    expect((await redeem(intent)).status).toBe(200);
    expect(await problemOf(await follow(invite.token))).toEqual({
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
    for (const other of [swapped === token ? "000000" : swapped, "zzzzzz"]) expect((await follow(other)).status).toBe(404);
  });

  test("fails once it has expired", async () => {
    const invite = await newInvite();
    await db
      .update(invites)
      .set({ expires: Date.now() - 1 })
      .where(eq(invites.id, invite._id));
    expect((await problemOf(await follow(invite.token))).message).toBe("Consume Invite in Invite Service failed - The invite has expired");
  });

  test("fails once the site has removed the origin from its list", async () => {
    const own = await newSite();
    await sell(own, "vip");
    const body = { redirectUri: "https://demo.example/welcome", siteId: own.id, targetSkus: ["vip"] };
    const { token } = (await own.call("createInvite", { body })).as(Invite);
    await own.call("updateSite", { body: { name: "Moved", settings: { security: { allowedOrigins: ["https://new.example"] } } } });
    expect((await problemOf(await follow(token))).status).toBe(400);
    expect(await db.$count(intents, eq(intents.siteId, own.id))).toBe(0);
  });

  test("is blocked for an address that has tried too many unknown tokens, and for no other", async () => {
    const invite = await newInvite();
    const guesser = { "CF-Connecting-IP": `198.51.100.${randomHex(4)}` };
    for (let i = 0; i < LIMITS.missLink.quota; i++) expect((await follow(`guess${i % 10}`, guesser)).status).toBe(404);
    expect((await follow(invite.token, guesser)).status).toBe(429);
    expect((await follow(invite.token)).status).toBe(302);
  });

  test("stays possible for an address without misses when the deployment's guess budget is used up", async () => {
    const invite = await newInvite();
    const from = (address: string) => ({ "CF-Connecting-IP": address });
    expect((await follow("guess0", from("198.51.100.40"))).status).toBe(404);
    await exhaust(GLOBAL_AUDIENCE, "guessLink", "");
    onTestFinished(() => renew(GLOBAL_AUDIENCE, "guessLink", ""));
    expect((await follow(invite.token, from("198.51.100.40"))).status).toBe(429);
    expect((await follow(invite.token, from("198.51.100.41"))).status).toBe(302);
    // Each address has one guess left.
    expect((await follow("guess1", from("198.51.100.42"))).status).toBe(404);
    expect((await follow("guess2", from("198.51.100.42"))).status).toBe(429);
  });
});

describe("distributed guesses", () => {
  test("are limited for the whole deployment, even from addresses without misses", async () => {
    const invite = await newInvite();
    await exhaust(GLOBAL_AUDIENCE, "guessLinkAtMost", "");
    onTestFinished(() => renew(GLOBAL_AUDIENCE, "guessLinkAtMost", ""));
    expect((await follow(invite.token, { "CF-Connecting-IP": "198.51.100.60" })).status).toBe(429);
    await renew(GLOBAL_AUDIENCE, "guessLinkAtMost", "");
    expect((await follow(invite.token, { "CF-Connecting-IP": "198.51.100.60" })).status).toBe(302);
  });

  test("don't block links with long tokens, which a site may require", async () => {
    const own = await newSite();
    const security = { allowedOrigins: ["https://demo.example"], longInviteTokens: true };
    await own.call("updateSite", { body: { name: "Long", settings: { security } } });
    await sell(own, "vip");
    const body = { redirectUri: "https://demo.example/welcome", siteId: own.id, targetSkus: ["vip"] };
    const { token, inviteUrl } = (await own.call("createInvite", { body })).as(Invite);
    expect(token).toMatch(/^[A-Za-z0-9]{22}$/);
    expect(inviteUrl.endsWith(token)).toBe(true);
    for (const name of ["guessLink", "guessLinkAtMost"] as const) {
      await exhaust(GLOBAL_AUDIENCE, name, "");
      onTestFinished(() => renew(GLOBAL_AUDIENCE, name, ""));
    }
    const guesser = { "CF-Connecting-IP": "198.51.100.61" };
    expect((await follow("a".repeat(22), guesser)).status).toBe(404);
    expect((await follow(token, guesser)).status).toBe(302);
  });
});

describe("a redeemed invite", () => {
  test("creates a guest account that holds the target skus", async () => {
    const invite = await newInvite({ targetSkus: ["vip", "press"] });
    const { account } = await signedIn(await intentOf(invite.token));
    expect(account).toMatchObject({ name: "Guest", subscriptions: ["press", "vip"], roles: [] });
    expect((await reread(invite._id)).accountId).toBe(account._id);
  });

  test("grants the skus it has on redemption, even if they change concurrently", async () => {
    const invite = await newInvite({ targetSkus: ["before"] });
    const intent = await intentOf(invite.token);
    let changes = 0;
    const meanwhile = async () => {
      const body = { redirectUri: invite.redirectUri, targetSkus: ["after"] };
      if (changes++ === 0) await site.call("updateInvite", { params: { id: invite._id }, body });
    };
    await consumeIntent(interrupted(site, meanwhile), intent);
    const held = await db
      .select()
      .from(accountEntitlements)
      .where(eq(accountEntitlements.source, `invite/${invite._id}`));
    expect(held.map(({ sku }) => sku)).toEqual(["after"]);
    const [row] = await db.select().from(invites).where(eq(invites.id, invite._id));
    // Created, opened, updated, redeemed.
    expect(row).toMatchObject({ version: 4, accountId: held[0]?.accountId });
  });

  test("is redeemed by only one of several concurrent intents", async () => {
    const invite = await newInvite();
    const found = await Promise.all(Array.from({ length: 5 }, () => intentOf(invite.token)));
    const responses = await Promise.all(found.map(redeem));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of responses) expect([200, 400, 404]).toContain(status);
    const granted = await db
      .select()
      .from(accountEntitlements)
      .where(eq(accountEntitlements.source, `invite/${invite._id}`));
    expect(granted).toHaveLength(1);
  });

  test("admits its holder to a gated channel until it is revoked", async () => {
    const sku = `gate-${randomHex(4)}`;
    const channelId = await site.addChannel(`gated-${randomHex(4)}`, { gate: { type: "entitlement", skus: ["other", sku] } });
    const join = async (headers: Record<string, string>) => {
      const { ticket } = (await site.call("createTicket", { as: "client", headers, body: { channelId } })).as(Ticket);
      return openSocket(site, channelId, { ticket });
    };
    const outsider = await join(await site.headersOf("viewer"));
    expect((await outsider.closed).code).toBe(CLOSE.forbidden);
    await sell(site, sku);
    const invite = await newInvite({ targetSkus: [sku] });
    const { account, headers } = await signedIn(await intentOf(invite.token));
    await (await join(headers)).first("welcome");
    const revoked = (await site.call("revokeInvite", { params: { id: invite._id } })).as(Invite);
    expect(revoked).toMatchObject({ revoked: true, consumed: true, accountId: account._id });
    expect((await site.call("getAccount", { params: { id: account._id } })).as(Account).subscriptions).toEqual([]);
    const former = await join(headers);
    expect((await former.closed).code).toBe(CLOSE.forbidden);
    const [entitlement] = await db.select().from(accountEntitlements).where(eq(accountEntitlements.accountId, account._id));
    expect(entitlement).toMatchObject({ status: "cancelled", sku });
    expect(await eventsOf(invite._id)).toEqual(["invite.created", "invite.consumed", "invite.redeemed", "invite.revoked"]);
  });

  test("can't be updated, nor deleted until it is revoked", async () => {
    const invite = await newInvite();
    await redeem(await intentOf(invite.token));
    const body = { redirectUri: invite.redirectUri, targetSkus: ["more"] };
    const params = { id: invite._id };
    expect((await site.call("updateInvite", { params, body })).problem?.message).toBe(
      "Update Invite in Invite Service failed - The invite has already been redeemed",
    );
    expect((await site.call("deleteInvite", { params })).problem?.message).toBe(
      "Delete Invite in Invite Service failed - The invite has been redeemed; revoke it first, which also revokes what it granted",
    );
    await site.call("revokeInvite", { params });
    expect((await site.call("deleteInvite", { params })).status).toBe(200);
  });
});

describe("a revoked invite", () => {
  test("admits nobody, neither by its link nor by an intent issued before", async () => {
    const invite = await newInvite();
    const intent = await intentOf(invite.token);
    expect((await site.call("revokeInvite", { params: { id: invite._id } })).as(Invite).revoked).toBe(true);
    expect(await problemOf(await follow(invite.token))).toEqual({
      status: 400,
      message: "Consume Invite in Invite Service failed - The invite has been revoked",
    });
    expect((await redeem(intent)).status).toBe(404);
    expect((await reread(invite._id)).revoked).toBe(true);
  });

  test("revokes everything it granted, even if that changes concurrently", async () => {
    const invite = await newInvite();
    const { account } = await signedIn(await intentOf(invite.token));
    const ofAccount = eq(accountEntitlements.accountId, account._id);
    let changes = 0;
    const meanwhile = async () => {
      if (changes++ === 0) await db.update(accountEntitlements).set({ price: 1, version: 2 }).where(ofAccount);
    };
    expect((await revokeInvite(interrupted(site, meanwhile), invite._id)).revokedAt).not.toBeNull();
    expect(await db.select().from(accountEntitlements).where(ofAccount)).toMatchObject([{ status: "cancelled", version: 3 }]);
    const { results } = (await site.call("listEvents", { query: { types: "entitlement_revoked", limit: 200 } })).as(EventList);
    expect(results.filter(({ data }) => data.accountId === account._id)).toHaveLength(1);
  });

  test("can't be revoked again", async () => {
    const invite = await newInvite();
    const params = { id: invite._id };
    await site.call("revokeInvite", { params });
    expect((await site.call("revokeInvite", { params })).problem?.message).toBe(
      "Revoke Invite in Invite Service failed - The invite has already been revoked",
    );
  });

  test("returns the same message to a concurrent revocation", async () => {
    const { _id: id } = await newInvite();
    let revocations = 0;
    const meanwhile = async () => {
      if (revocations++ === 0) await site.call("revokeInvite", { params: { id } });
    };
    await expect(revokeInvite(interrupted(site, meanwhile), id)).rejects.toMatchObject({
      message: "Revoke Invite in Invite Service failed - The invite has already been revoked",
    });
  });

  test("grants nothing, even if it is redeemed concurrently", async () => {
    for (let round = 0; round < 4; round++) {
      const invite = await newInvite();
      const intent = await intentOf(invite.token);
      const [revoked, redeemed] = await Promise.all([site.call("revokeInvite", { params: { id: invite._id } }), redeem(intent)]);
      const held = await db
        .select()
        .from(accountEntitlements)
        .where(eq(accountEntitlements.source, `invite/${invite._id}`));
      // Whichever came first, nobody holds an entitlement of a revoked invite.
      if (revoked.status === 200) expect(held.filter((row) => row.status === "active")).toEqual([]);
      else expect(redeemed.status).toBe(200);
    }
  });
});

describe("updating and deleting an invite", () => {
  test("keeps the link on update, and applies the new redirect and skus", async () => {
    const invite = await newInvite();
    const before = await intentOf(invite.token);
    const body = { redirectUri: "https://demo.example/other", targetSkus: ["new"], tags: ["late"] };
    const changed = (await site.call("updateInvite", { params: { id: invite._id }, body })).as(Invite);
    expect(changed).toMatchObject({ ...body, token: invite.token, expiresAt: invite.expiresAt, consumed: true });
    expect((await follow(invite.token)).headers.get("Location")).toContain("https://demo.example/other?intent=");
    expect((await signedIn(before)).account.subscriptions).toEqual(["new"]);
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
    expect((await follow(invite.token)).status).toBe(404);
    expect((await redeem(intent)).status).toBe(404);
  });
});

test("the list of invites filters by consumed and revoked", async () => {
  const own = await newSite();
  const make = async () => {
    await sell(own, "vip");
    const body = { redirectUri: "https://demo.example/", siteId: own.id, targetSkus: ["vip"] };
    return (await own.call("createInvite", { body })).as(Invite);
  };
  const [fresh, opened, revoked] = [await make(), await make(), await make()];
  await follow(opened.token);
  await own.call("revokeInvite", { params: { id: revoked._id } });
  const ids = async (query: Record<string, boolean>) =>
    (await own.call("listInvites", { query })).as(Invites).results.map((invite) => invite._id);
  expect(await ids({})).toEqual([revoked._id, opened._id, fresh._id]);
  expect(await ids({ consumed: true })).toEqual([opened._id]);
  expect(await ids({ consumed: false, revoked: false })).toEqual([fresh._id]);
  expect(await ids({ revoked: true })).toEqual([revoked._id]);
});
