import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { waitForViewerCount, newSite, openSocket, ORIGIN, PASSWORD, type TestAccount, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { channelName, relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { bucketOf } from "#worker/lib/crypto/hash.ts";
import { grantEntitlement, revokeEntitlement } from "#worker/services/subscriptions/entitlements.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { AccessCode } from "#worker/services/access-codes/schemas.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

/** An account with a session. */
interface Person extends TestAccount {
  jwt: string;
}

async function newPerson(site: TestSite, name: string, roles: TestAccount["roles"] = []): Promise<Person> {
  const account = await site.addAccount(name, roles);
  return { ...account, jwt: await site.signIn(account) };
}

const bearer = (site: TestSite, jwt: string) => ({ "Tifo-Client-Id": site.id, Authorization: `Bearer ${jwt}` });

async function ticketOf(site: TestSite, channelId: string, jwt: string): Promise<string> {
  return (await site.call("createTicket", { as: "client", headers: bearer(site, jwt), body: { channelId } })).as(Ticket).ticket;
}

async function join(site: TestSite, channelId: string, jwt?: string): Promise<TestViewer> {
  const viewer = await openSocket(site, channelId, jwt === undefined ? {} : { ticket: await ticketOf(site, channelId, jwt) });
  await viewer.first("welcome");
  return viewer;
}

/** How a viewer was disconnected: the error frame's code, and the close code. */
async function ending(viewer: TestViewer): Promise<{ code: string; close: number }> {
  const [{ code, close }, closed] = await Promise.all([viewer.first("error"), viewer.closed]);
  expect(close).toBe(closed.code);
  return { code, close: closed.code };
}

const SIGNED_OUT = { code: "unauthenticated", close: CLOSE.unauthenticated };
const FORBIDDEN = { code: "forbidden", close: CLOSE.forbidden };

const system = <T>(site: TestSite, work: Parameters<typeof asSystem<T>>[2]) => asSystem({ env, db, now: Date.now() }, site.id, work);
const grant = (site: TestSite, accountId: string, sku: string) =>
  system(site, (ctx) => grantEntitlement(ctx, { accountId, sku, grantedMethod: "customerService" }));

async function setGate(site: TestSite, channelId: string, slug: string, type: string, skus: string[] = []): Promise<void> {
  for (const sku of skus) await addSkus(site, sku);
  const body = { slug, data: { name: slug, gate: { type, skus } } };
  expect((await site.call("updatePage", { params: { id: channelId }, body })).status).toBe(200);
}

describe("the end of a session", () => {
  test("by signing out closes its sockets, and none of the account's other sessions", async () => {
    const site = await newSite();
    const fan = await newPerson(site, "fan");
    const [phone, television] = [await join(site, site.channels[0], fan.jwt), await join(site, site.channels[1], fan.jwt)];
    const tablet = await join(site, site.channels[0], await site.signIn(fan));
    await waitForViewerCount(site, 3);
    await site.call("logout", { as: "client", headers: bearer(site, fan.jwt) });
    expect(await Promise.all([ending(phone), ending(television)])).toEqual([SIGNED_OUT, SIGNED_OUT]);
    await waitForViewerCount(site, 1);
    expect(tablet.open).toBe(true);
  });

  test("by a reused refresh token closes its sockets", async () => {
    const site = await newSite();
    const fan = await newPerson(site, "fan");
    const signedIn = (await site.call("login", { as: "client", body: { email: fan.email, password: PASSWORD, siteId: site.id } })).as(
      Tokens,
    );
    const viewer = await join(site, site.channels[0], signedIn.jwt);
    await waitForViewerCount(site, 1);
    const refresh = (refreshToken: string) => site.call("refreshTokens", { as: "client", body: { refreshToken } });
    const next = (await refresh(signedIn.refreshToken)).as(Tokens);
    await refresh(next.refreshToken);
    expect((await refresh(signedIn.refreshToken)).status).toBe(401);
    expect(await ending(viewer)).toEqual(SIGNED_OUT);
  });

  test("by a new password closes all sockets of the account except those of the new session", async () => {
    const site = await newSite();
    const fan = await newPerson(site, "fan");
    const viewers = [await join(site, site.channels[0], fan.jwt), await join(site, site.channels[0], await site.signIn(fan))];
    await waitForViewerCount(site, 2);
    const body = { oldPassword: PASSWORD, password: "a-much-longer-pass" };
    const changed = (await site.call("changePassword", { as: "client", headers: bearer(site, fan.jwt), body })).as(Tokens);
    expect(await Promise.all(viewers.map(ending))).toEqual([SIGNED_OUT, SIGNED_OUT]);
    await join(site, site.channels[0], changed.jwt);
  });

  test("by deleting the account closes its sockets", async () => {
    const site = await newSite();
    const fan = await newPerson(site, "fan");
    const viewer = await join(site, site.channels[0], fan.jwt);
    await waitForViewerCount(site, 1);
    await site.call("deleteAccount", { params: { id: fan.id } });
    expect(await ending(viewer)).toEqual(SIGNED_OUT);
  });

  test("invalidates tickets issued before", async () => {
    const site = await newSite();
    const fan = await newPerson(site, "fan");
    const ticket = await ticketOf(site, site.channels[0], fan.jwt);
    await site.call("logout", { as: "client", headers: bearer(site, fan.jwt) });
    const viewer = await openSocket(site, site.channels[0], { ticket });
    expect(await ending(viewer)).toEqual(SIGNED_OUT);
    expect(viewer.frames.map(({ type }) => type)).toEqual(["error"]);
  });
});

describe("the end of an entitlement", () => {
  test("closes the sockets of its account on channels that require it", async () => {
    const site = await newSite();
    const gated = await site.addChannel("gated", { gate: { type: "entitlement", skus: ["season"] } });
    const [fan, other] = [await newPerson(site, "fan"), await newPerson(site, "other")];
    for (const { id } of [fan, other]) await grant(site, id, "season");
    const [viewer, elsewhere, neighbour] = [
      await join(site, gated, fan.jwt),
      await join(site, site.channels[0], fan.jwt),
      await join(site, gated, other.jwt),
    ];
    await waitForViewerCount(site, 3);
    const ticket = await ticketOf(site, gated, fan.jwt);
    await system(site, (ctx) => revokeEntitlement(ctx, { accountId: fan.id, sku: "season" }));
    expect(await ending(viewer)).toEqual(FORBIDDEN);
    // A ticket issued before is rejected too.
    expect(await ending(await openSocket(site, gated, { ticket }))).toEqual(FORBIDDEN);
    await waitForViewerCount(site, 2);
    expect([elsewhere.open, neighbour.open]).toEqual([true, true]);
  });

  test("at a scheduled time closes them at that time, before any event", async () => {
    const site = await newSite();
    const gated = await site.addChannel("gated", { gate: { type: "entitlement", skus: ["season"] } });
    const fan = await newPerson(site, "fan");
    const { id } = await grant(site, fan.id, "season");
    const dateEnds = Date.now() + 1_500;
    await db.update(accountEntitlements).set({ status: "cancelScheduled", dateEnds }).where(eq(accountEntitlements.id, id));
    // On a slow machine it may be over before the socket opens.
    const viewer = await openSocket(site, gated, { ticket: await ticketOf(site, gated, fan.jwt) });
    expect(await ending(viewer)).toEqual(FORBIDDEN);
    expect(Date.now()).toBeGreaterThanOrEqual(dateEnds);
  });

  test("keeps viewers with another entitlement that opens the channel", async () => {
    const site = await newSite();
    const gated = await site.addChannel("gated", { gate: { type: "entitlement", skus: ["season", "gold"] } });
    const fan = await newPerson(site, "fan");
    for (const sku of ["season", "gold"]) await grant(site, fan.id, sku);
    const viewer = await join(site, gated, fan.jwt);
    await waitForViewerCount(site, 1);
    await system(site, (ctx) => revokeEntitlement(ctx, { accountId: fan.id, sku: "season" }));
    await system(site, (ctx) => revokeEntitlement(ctx, { accountId: fan.id, sku: "gold" }));
    expect(await ending(viewer)).toEqual(FORBIDDEN);
  });

  test("by deleting a login code closes the sockets that it admitted", async () => {
    const site = await newSite();
    const gated = await site.addChannel("gated", { gate: { type: "login", skus: ["inner-circle"] } });
    const fan = await newPerson(site, "fan");
    await addSkus(site, "inner-circle");
    const query = { accessCode: "LET-ME-IN", siteId: site.id, sku: "inner-circle", type: "login" };
    const code = (await site.call("addAccessCode", { query })).as(AccessCode);
    await site.call("consumeAccessCode", { as: "client", headers: bearer(site, fan.jwt), params: { accessCode: query.accessCode } });
    const viewer = await join(site, gated, fan.jwt);
    await waitForViewerCount(site, 1);
    await site.call("deleteAccessCode", { params: { id: code._id } });
    expect(await ending(viewer)).toEqual(FORBIDDEN);
  });
});

describe("a role that is removed", () => {
  test("closes the sockets that passed a gate because of it", async () => {
    const site = await newSite();
    const gated = await site.addChannel("gated", { gate: { type: "entitlement", skus: ["season"] } });
    const creator = await newPerson(site, "creator-of-one", [{ scope: "*", pageId: [gated], write: true }]);
    const [viewer, elsewhere] = [await join(site, gated, creator.jwt), await join(site, site.channels[0], creator.jwt)];
    await waitForViewerCount(site, 2);
    await site.call("setRoles", { params: { id: creator.id }, body: { roles: [] } });
    expect((await ending(viewer)).close).toBeOneOf([CLOSE.forbidden, CLOSE.unauthenticated]);
    await waitForViewerCount(site, elsewhere.open ? 1 : 0);
  });

  test("by a site that begins to require authenticator apps closes the sockets of staff without one", async () => {
    const site = await newSite();
    const gated = await site.addChannel("gated", { gate: { type: "entitlement", skus: ["season"] } });
    const creator = await newPerson(site, "creator-of-one", [{ scope: "*", pageId: [gated], write: true }]);
    const viewer = await join(site, gated, creator.jwt);
    await waitForViewerCount(site, 1);
    const body = { name: "Strict", settings: { security: { requireStaffTotp: true } } };
    expect((await site.call("updateSite", { body })).status).toBe(200);
    expect(await ending(viewer)).toEqual(FORBIDDEN);
    const ticket = await ticketOf(site, gated, creator.jwt);
    expect((await (await openSocket(site, gated, { ticket })).closed).code).toBe(CLOSE.forbidden);
  });
});

describe("a gate", () => {
  test("that is added closes only the sockets that don't pass it", async () => {
    const site = await newSite();
    const channelId = await site.addChannel("opens");
    const [fan, holder] = [await newPerson(site, "fan"), await newPerson(site, "holder")];
    await grant(site, holder.id, "season");
    const [anonymous, without, entitled, admin] = [
      await join(site, channelId),
      await join(site, channelId, fan.jwt),
      await join(site, channelId, holder.jwt),
      await join(site, channelId, await site.signIn(site.accounts.admin)),
    ];
    await setGate(site, channelId, "opens", "entitlement", ["season"]);
    expect(await Promise.all([ending(anonymous), ending(without)])).toEqual([SIGNED_OUT, FORBIDDEN]);
    await entitled.first("page.updated");
    expect([entitled.open, admin.open]).toEqual([true, true]);
    await setGate(site, channelId, "opens", "entitlement", ["gold"]);
    expect(await ending(entitled)).toEqual(FORBIDDEN);
    expect(admin.open).toBe(true);
  });

  test("for signed-in viewers keeps signed-in viewers", async () => {
    const site = await newSite();
    const channelId = await site.addChannel("opens");
    const fan = await newPerson(site, "fan");
    const [anonymous, signedIn] = [await join(site, channelId), await join(site, channelId, fan.jwt)];
    await setGate(site, channelId, "opens", "login");
    expect(await ending(anonymous)).toEqual(SIGNED_OUT);
    await signedIn.first("page.updated");
    expect(signedIn.open).toBe(true);
  });

  test("that closes rejects viewers immediately, even where the open gate is cached", async () => {
    const site = await newSite();
    const channelId = await site.addChannel("opens");
    const before = await join(site, channelId);
    await setGate(site, channelId, "opens", "login");
    await ending(before);
    for (let attempt = 0; attempt < 5; attempt++) {
      const late = await openSocket(site, channelId);
      expect(await ending(late)).toEqual(SIGNED_OUT);
      expect(late.frames.map(({ type }) => type)).toEqual(["error"]);
    }
  });

  test("that opens soon admits anonymous viewers", async () => {
    const site = await newSite();
    const channelId = await site.addChannel("opens", { gate: { type: "login", skus: [] } });
    await join(site, channelId, await site.signIn(site.accounts.viewer));
    await setGate(site, channelId, "opens", "none");
    await vi.waitUntil(async () => (await (await openSocket(site, channelId)).when(() => true)).type === "welcome", { timeout: 10_000 });
  });
});

describe("a page that is deleted", () => {
  test("closes its sockets as not found", async () => {
    const site = await newSite();
    const channelId = await site.addChannel("gone");
    const viewer = await join(site, channelId);
    await site.call("deletePage", { params: { id: channelId } });
    expect(await ending(viewer)).toEqual({ code: "not_found", close: CLOSE.notFound });
  });
});

describe("an event stream", () => {
  test("ends with an event with the reason", async () => {
    const site = await newSite();
    const fan = await newPerson(site, "fan");
    const url = new URL(`/realtime/v1/channels/${site.channels[0]}/events`, ORIGIN);
    url.search = new URLSearchParams({ clientId: site.id, ticket: await ticketOf(site, site.channels[0], fan.jwt) }).toString();
    const reader = (await exports.default.fetch(url)).body?.pipeThrough(new TextDecoderStream()).getReader();
    onTestFinished(() => reader?.cancel());
    let text = "";
    const readTo = async (part: string) => {
      while (!text.includes(part)) {
        const chunk = await reader?.read();
        if (!chunk || chunk.done) return;
        text += chunk.value;
      }
    };
    await readTo("welcome");
    await waitForViewerCount(site, 1);
    await site.call("logout", { as: "client", headers: bearer(site, fan.jwt) });
    await readTo("never to be read");
    expect(text).toMatch(/event: error\ndata: \{"type":"error","code":"unauthenticated",[^\n]*"close":4401\}\n\n$/);
  });
});

test("only relays that may have the account recheck it", async () => {
  const site = await newSite();
  const fan = await newPerson(site, "fan");
  const viewer = await join(site, site.channels[0], fan.jwt);
  const others = await Promise.all([join(site, site.channels[1]), join(site, await site.addChannel("third"))]);
  await waitForViewerCount(site, 3);
  const relays = [site.channels[0], site.channels[1]].map((channelId) =>
    env.RELAY.getByName(relayName(channelName(site.id, channelId), 0)),
  );
  const counts = await Promise.all(relays.map((relay) => relay.takeCensus()));
  expect(counts.map(({ accounts }) => accounts.length > 0)).toEqual([true, false]);
  expect(bucketOf(fan.id, 1)).toBe(0);
  await site.call("logout", { as: "client", headers: bearer(site, fan.jwt) });
  await ending(viewer);
  expect(others.every((other) => other.open)).toBe(true);
});
