import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { registerInvites } from "#db/schema/invites.ts";
import { sites } from "#db/schema/sites.ts";
import type { AccountRole } from "#db/types.ts";
import { type ApiResponse, newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { openMailbox } from "#test/mailbox.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { mailRegisterInvite, pruneRegisterInvites } from "#worker/services/invites/register-invites.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { RegisterInvite } from "#worker/services/invites/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const DAY = 86_400_000;
const PASSWORD = "a-long-new-password";
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

function newEmail(): string {
  return `editor-${randomHex(6)}@demo.example`;
}

function invite(change: Record<string, unknown> = {}, as: "developer" | "admin" = "developer", on = site): Promise<ApiResponse> {
  const body = { email: newEmail(), senderAccountId: on.accounts.admin.id, targetRoles: [ADMIN], ...change };
  return on.call("createRegisterInvite", { as, body });
}

async function invited(change: Record<string, unknown> = {}) {
  return (await invite(change)).as(RegisterInvite);
}

function tokenOf(id: string): Promise<string> {
  return signContent(env, "register invite", id);
}

function accept(token: string, on = site): Promise<ApiResponse> {
  return on.call("acceptRegisterInvite", { as: "client", params: { token }, body: { name: "Edda Editor", password: PASSWORD } });
}

async function allowNewAdmins(on: TestSite, allowNewAdmins: boolean, allowedOrigins = ["https://demo.example"]): Promise<void> {
  const settings = { security: { allowedOrigins, allowNewAdmins, requireVerifiedEmail: false, providers: [] } };
  await db.update(sites).set({ settings }).where(eq(sites.id, on.id));
}

describe("an invitation by email", () => {
  test("is mailed with a link that is stored nowhere else, and then marked as sent", async () => {
    const mails = openMailbox();
    const email = newEmail();
    const created = (await invite({ email: email.toUpperCase() }, "admin")).as(RegisterInvite);
    expect(created).toMatchObject({ email, senderAccountId: site.accounts.admin.id, targetRoles: [ADMIN], sent: false });
    const { text } = await site.call("listEvents", { query: { limit: 200 } });
    expect(mails.map((mail) => mail.to)).toEqual([email]);
    const token = await tokenOf(created._id);
    expect(JSON.stringify(mails[0])).toContain(token);
    const [row] = await db.select().from(registerInvites).where(eq(registerInvites.id, created._id));
    expect(row?.sent).toBe(true);
    expect(text).toContain(created._id);
    for (const secret of [token, email]) expect(text).not.toContain(secret);
    expect(JSON.stringify(row)).not.toContain(token.split(".")[1]);
  });

  test("links to its redirectUri, or by default to the first origin of the site", async () => {
    const mails = openMailbox();
    await invite({ redirectUri: "https://demo.example/join?lang=en" });
    await invite();
    await site.call("listEvents");
    const texts = mails.map((mail) => mail.text ?? "");
    expect(texts[0]).toContain("https://demo.example/join?lang=en&token=");
    expect(texts[1]).toContain("https://demo.example/?token=");
  });

  test("is not mailed once it has been accepted", async () => {
    const mails = openMailbox();
    const { _id } = await invited();
    await site.call("listEvents");
    await accept(await tokenOf(_id));
    const event = { sequence: 1, previousSequence: null, data: "{}", actor: "system", requestId: "test", origin: null, created: 0 };
    await mailRegisterInvite(env, site.id, { ...event, id: newId(1), type: "invite.registerCreated", resource: `invite/${_id}` });
    expect(mails).toHaveLength(1);
  });

  test.for([
    ["a page on another origin", { redirectUri: "https://evil.example/" }, "redirectUri"],
    ["an unknown sender", { senderAccountId: newId(5) }, "senderAccountId"],
    ["no roles", { targetRoles: [] }, "targetRoles"],
    ["a placeholder address", { email: "nell@no-mail.invalid" }, "email"],
    ["a role for an unknown channel", { targetRoles: [{ ...ADMIN, pageId: [newId(6)] }] }, undefined],
  ] as const)("is rejected with %s", async ([, change, path]) => {
    const { status, problem } = await invite(change);
    expect([status, path && problem?.issues?.[0]?.path]).toEqual([400, path]);
  });

  test("can't be sent by an admin in another account's name", async () => {
    const { problem } = await invite({ senderAccountId: site.accounts.creator.id }, "admin");
    expect(problem?.message).toBe("Create Invite in Invite Service failed - Must be your own account");
  });

  test("requires a key that may grant roles", async () => {
    const body = { email: newEmail(), senderAccountId: site.accounts.admin.id, targetRoles: [ADMIN] };
    const withKey = async (roles: string[]) => {
      const headers = { "Tifo-Developer-Key": await site.addKey(roles) };
      return site.call("createRegisterInvite", { as: "client", body, headers });
    };
    expect((await withKey(["invite:write"])).problem?.code).toBe("forbidden");
    expect((await withKey(["invite:write", "account:read"])).problem?.code).toBe("forbidden");
    expect((await withKey(["invite:write", "account:write"])).problem?.code).toBe("forbidden");
    expect((await withKey(["invite:write", "roles:write"])).status).toBe(201);
  });

  test("is rejected for the email of an account, and if the site allows no new admins", async () => {
    const taken = await invite({ email: site.accounts.viewer.email });
    expect(taken.problem?.message).toBe("Create Invite in Invite Service failed - An account with this email exists");
    const closed = await newSite();
    await allowNewAdmins(closed, false);
    const rejected = await invite({}, "developer", closed);
    expect([rejected.status, rejected.problem?.message]).toEqual([
      400,
      "Create Invite in Invite Service failed - The site allows no new admins (settings.security.allowNewAdmins)",
    ]);
  });

  test("may open Studio's own page on any site, and no other page of the deployment", async () => {
    const own = await newSite();
    await allowNewAdmins(own, true, []);
    const to = async (redirectUri: string) => (await invite({ redirectUri }, "developer", own)).status;
    expect(await to(`${ORIGIN}/studio/join?site=${own.id}`)).toBe(201);
    const page = `/studio/join?site=${own.id}`;
    for (const other of [
      "/studio",
      "/overlay-frame",
      "/studio/join",
      `/studio/join?site=${site.id}`,
      `${page}&site=${site.id}`,
      `${page}#x`,
    ])
      expect(await to(ORIGIN + other)).toBe(400);
    expect(await to(`https://evil.example${page}`)).toBe(400);
    expect(await to(ORIGIN.replace("//", "//user@") + page)).toBe(400);
  });

  test("requires a redirectUri if the site has no allowed origins", async () => {
    const own = await newSite();
    await allowNewAdmins(own, true, []);
    expect((await invite({}, "developer", own)).problem?.issues?.[0]?.path).toBe("redirectUri");
  });
});

describe("a revoked invitation by email", () => {
  const revoke = (id: string, on = site) => on.call("revokeInvite", { params: { id } });

  test("can't be accepted, and is not mailed again", async () => {
    const mails = openMailbox();
    const invitation = await invited();
    const revoked = (await revoke(invitation._id)).as(RegisterInvite);
    expect(revoked).toMatchObject({ _id: invitation._id, email: invitation.email, revoked: true });
    expect((await accept(await tokenOf(invitation._id))).status).toBe(400);
    await site.call("listEvents");
    const event = { sequence: 1, previousSequence: null, data: "{}", actor: "system", requestId: "test", origin: null, created: 0 };
    const resource = `invite/${invitation._id}`;
    const sent = mails.length;
    await mailRegisterInvite(env, site.id, { ...event, id: newId(2), type: "invite.registerCreated", resource });
    expect(mails).toHaveLength(sent);
    expect((await revoke(invitation._id)).problem?.message).toBe(
      "Revoke Invite in Invite Service failed - The invite has already been revoked",
    );
  });

  test("can be revoked by its own site only, and not once it is accepted", async () => {
    const invitation = await invited();
    expect((await revoke(invitation._id, await newSite())).status).toBe(404);
    await accept(await tokenOf(invitation._id));
    expect((await revoke(invitation._id)).status).toBe(400);
  });

  test("can be deleted, which leaves no record of its recipient", async () => {
    const { _id: id } = await invited();
    expect((await site.call("deleteInvite", { params: { id } })).body).toEqual({ success: true, _id: id });
    expect((await accept(await tokenOf(id))).status).toBe(404);
    expect(await db.$count(registerInvites, eq(registerInvites.id, id))).toBe(0);
    expect((await site.call("deleteInvite", { params: { id } })).status).toBe(404);
    const { results } = (await site.call("listEvents", { query: { types: "invite.registerDeleted" } })).as(EventList);
    expect(results.some((event) => event.resource === `invite/${id}`)).toBe(true);
  });
});

describe("accepting an invitation", () => {
  test("creates an account with the roles, which can sign in", async () => {
    const { _id, email } = await invited();
    const response = await accept(await tokenOf(_id));
    expect(response.status).toBe(201);
    expect(response.as(Account)).toMatchObject({ email, name: "Edda Editor", roles: [ADMIN] });
    expect((await site.call("login", { as: "nobody", body: { email, password: PASSWORD, siteId: site.id } })).status).toBe(200);
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    const logged = results.filter((event) => event.resource === `invite/${_id}`).map((event) => event.type);
    expect(logged).toEqual(["invite.registerCreated", "invite.registerAccepted"]);
  });

  test("succeeds once, even with concurrent attempts", async () => {
    const { _id, email } = await invited();
    const token = await tokenOf(_id);
    const responses = await Promise.all([accept(token), accept(token), accept(token)]);
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await db.select().from(accounts).where(eq(accounts.email, email))).toHaveLength(1);
    for (const { status } of responses) expect([201, 400]).toContain(status);
    expect((await accept(token)).problem?.message).toBe("Accept Invite in Invite Service failed - The invite has already been accepted");
  });

  test("creates one account from two invitations to the same person", async () => {
    const email = newEmail();
    const tokens = [await tokenOf((await invited({ email }))._id), await tokenOf((await invited({ email }))._id)];
    const responses = await Promise.all(tokens.map((token) => accept(token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test("fails once it has expired, or once the site allows no new admins", async () => {
    const { _id } = await invited();
    await db
      .update(registerInvites)
      .set({ expires: Date.now() - 1 })
      .where(eq(registerInvites.id, _id));
    const late = await accept(await tokenOf(_id));
    expect(late.problem?.message).toBe("Accept Invite in Invite Service failed - The invite has expired");
    const closing = await newSite();
    const created = (await invite({}, "developer", closing)).as(RegisterInvite);
    await allowNewAdmins(closing, false);
    expect((await accept(await tokenOf(created._id), closing)).status).toBe(400);
  });

  test("gives no role for a channel that has been deleted, also not one for the whole site, and fails if none is left", async () => {
    const [deleted, kept] = [await site.addChannel("deleted"), site.channels[0]];
    const moderator: AccountRole = { scope: "Chat_Moderator", pageId: [deleted], write: true };
    const both = { ...ADMIN, pageId: [deleted, kept] };
    const some = await invited({ targetRoles: [both, moderator] });
    const none = await invited({ targetRoles: [moderator] });
    await site.call("deletePage", { params: { id: deleted } });
    expect((await accept(await tokenOf(some._id))).as(Account).roles).toEqual([{ ...both, pageId: [kept] }]);
    expect((await accept(await tokenOf(none._id))).problem?.message).toBe(
      "Accept Invite in Invite Service failed - The channels of the invite have been deleted",
    );
    expect(await db.select().from(accounts).where(eq(accounts.email, none.email))).toEqual([]);
  });

  test("fails for all but the latest invitation of a person, which replaces the earlier ones", async () => {
    const email = newEmail();
    const [first, last] = [await invited({ email }), await invited({ email, targetRoles: [{ ...ADMIN, write: false }] })];
    const rejected = await accept(await tokenOf(first._id));
    expect(rejected.problem?.message).toBe("Accept Invite in Invite Service failed - The invite has already been revoked");
    expect((await accept(await tokenOf(last._id))).as(Account).roles).toEqual([{ ...ADMIN, write: false }]);
    const { results } = (await site.call("listEvents", { query: { types: "invite.registerRevoked", limit: 200 } })).as(EventList);
    const logged = results.find((event) => event.resource === `invite/${first._id}`);
    expect(logged?.data).toMatchObject({ _id: first._id, siteId: site.id, revoked: true, targetRoles: [ADMIN] });
    expect(results.some((event) => event.resource === `invite/${last._id}`)).toBe(false);
  });

  test("fails once its sender is no longer an admin, unless a developer key sent it", async () => {
    const rogue = await site.addAccount(`rogue-${randomHex(4)}`, [ADMIN]);
    const headers = { Authorization: `Bearer ${await site.signIn(rogue)}` };
    const body = { email: newEmail(), senderAccountId: rogue.id, targetRoles: [ADMIN] };
    const own = (await site.call("createRegisterInvite", { as: "client", headers, body })).as(RegisterInvite);
    const ofKey = await invited({ senderAccountId: rogue.id });
    await site.call("setRoles", { params: { id: rogue.id }, body: { roles: [{ ...ADMIN, write: false }] } });
    expect((await accept(await tokenOf(own._id))).problem?.message).toBe(
      "Accept Invite in Invite Service failed - The sender of the invite no longer administers the site",
    );
    expect((await accept(await tokenOf(ofKey._id))).status).toBe(201);
  });

  test("rejects a forged token and one of another site", async () => {
    const { _id } = await invited();
    const token = await tokenOf(_id);
    const forged = `${_id}.${"A".repeat(43)}`;
    for (const wrong of [forged, await signContent(env, "password reset", _id), await tokenOf(newId(7))]) {
      expect((await accept(wrong)).status).toBe(404);
    }
    expect((await accept(token, await newSite())).status).toBe(404);
    expect((await accept(token)).status).toBe(201);
  });
});

test("an invitation that was not accepted is deleted 30 days after it expires", async () => {
  const [old, recent, accepted] = [await invited(), await invited(), await invited()];
  await accept(await tokenOf(accepted._id));
  const age = (id: string, days: number) =>
    db
      .update(registerInvites)
      .set({ expires: Date.now() - days * DAY })
      .where(eq(registerInvites.id, id));
  await Promise.all([age(old._id, 31), age(recent._id, 29), age(accepted._id, 31)]);
  await pruneRegisterInvites({ db, now: Date.now() });
  const kept = await db.select({ id: registerInvites.id }).from(registerInvites).where(eq(registerInvites.siteId, site.id));
  const ids = kept.map((row) => row.id);
  expect([old, recent, accepted].map(({ _id }) => ids.includes(_id))).toEqual([false, true, true]);
});
