import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import type { AccountRole } from "#db/types.ts";
import { type ApiResponse, type CallOptions, newSite, PASSWORD, type TestAccount, type TestSite } from "#test/harness.ts";
import { SiteAsRead } from "#worker/services/sites/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };
const MODERATOR: AccountRole = { scope: "Chat_Moderator", pageId: [], write: true };
const PROVIDER = { name: "mine", jwksUrl: "https://evil.example/jwks", audience: "tifo" };

let site: TestSite;
let moderator: TestAccount;

beforeAll(async () => {
  site = await newSite();
  moderator = await site.addAccount("moderator", [MODERATOR]);
});

async function withKey(roles: string[], operationId: string, options: CallOptions): Promise<ApiResponse> {
  return site.call(operationId, { ...options, as: "client", headers: { "Tifo-Developer-Key": await site.addKey(roles) } });
}

const person = (account: TestAccount) => ({ email: account.email, name: "Somebody" });

describe("a developer key with account:write and site:write alone", () => {
  const roles = ["account:write", "invite:write", "site:write"];

  test.for([
    ["sets roles", "setRoles", () => ({ params: { id: site.accounts.viewer.id }, body: { roles: [ADMIN] } })],
    ["revokes roles", "setRoles", () => ({ params: { id: moderator.id }, body: { roles: [] } })],
    ["creates an account with roles", "upsertAccount", () => ({ body: { email: "new@keys.example", name: "New", roles: [ADMIN] } })],
    ["grants roles by email address", "upsertAccount", () => ({ body: { ...person(site.accounts.viewer), roles: [MODERATOR] } })],
    ["sets an admin's password", "upsertAccount", () => ({ body: { ...person(site.accounts.admin), password: "mine-from-now-on" } })],
    [
      "links an admin to its own third-party sign-in",
      "upsertAccount",
      () => ({ body: { ...person(site.accounts.admin), thirdPartyAuthProviders: [{ accountId: "me", provider: "mine" }] } }),
    ],
    [
      "changes a moderator's address",
      "updateAccount",
      () => ({ params: { id: moderator.id }, body: { name: "Mod", email: "mine@keys.example" } }),
    ],
    ["deletes a moderator", "deleteAccount", () => ({ params: { id: moderator.id } })],
    [
      "invites an admin",
      "createRegisterInvite",
      () => ({ body: { email: "invited@keys.example", senderAccountId: site.accounts.admin.id, targetRoles: [ADMIN] } }),
    ],
  ] as const)("is rejected when it %s", async ([, operationId, options]) => {
    const { status, problem } = await withKey(roles, operationId, options());
    expect([status, problem?.code]).toEqual([403, "forbidden"]);
    expect(problem?.message).toContain("roles:write");
    const { admin, viewer } = site.accounts;
    for (const account of [admin, viewer, moderator]) {
      const [row] = await db.select().from(accounts).where(eq(accounts.id, account.id));
      expect(row).toMatchObject({ email: account.email, roles: account.roles, passwordVersion: 1, thirdPartyAuthProviders: [] });
    }
  });

  test("is rejected when it adds an identity provider, which could sign in as an admin", async () => {
    const { name, devicelimit, settings } = (await site.call("getSite")).as(SiteAsRead);
    const body = { name, devicelimit, settings: { ...settings, security: { ...settings.security, providers: [PROVIDER] } } };
    expect((await withKey(roles, "updateSite", { body })).problem?.code).toBe("forbidden");
    expect((await withKey(roles, "updateSite", { body: { name: "Harbour", devicelimit, settings } })).status).toBe(200);
    expect((await withKey(["site:write", "roles:write"], "updateSite", { body })).status).toBe(200);
    // Keeping or removing a provider grants nothing.
    expect((await withKey(roles, "updateSite", { body })).status).toBe(200);
    expect((await withKey(roles, "updateSite", { body: { name, devicelimit, settings } })).status).toBe(200);
  });

  test("is rejected when it relaxes a security setting, and accepted when it tightens one", async () => {
    const own = await newSite();
    const key = { "Tifo-Developer-Key": await own.addKey(["site:write"]) };
    const base = { allowedOrigins: ["https://demo.example"], allowNewAdmins: true, requireStaffTotp: false };
    const strict = { ...base, allowNewAdmins: false, requireStaffTotp: true, requireVerifiedEmail: true, longInviteTokens: true };
    const put = (security: Record<string, unknown>, headers: Record<string, string> = key) =>
      own.call("updateSite", { as: "client", headers, body: { name: "Own", settings: { security } } });
    for (const security of [base, strict, { ...strict, allowedOrigins: [] }]) expect((await put(security)).status).toBe(200);
    const relaxed = [
      { allowedOrigins: ["https://evil.example"] },
      ...[{ allowNewAdmins: true }, { requireStaffTotp: false }, { requireVerifiedEmail: false }, { longInviteTokens: undefined }],
    ];
    for (const change of relaxed) expect((await put({ ...strict, allowedOrigins: [], ...change })).problem?.code).toBe("forbidden");
    const headers = { "Tifo-Developer-Key": await own.addKey(["site:write", "roles:write"]) };
    expect((await put(base, headers)).status).toBe(200);
  });

  test("still manages viewers", async () => {
    const viewer = await site.addAccount("managed", []);
    expect((await withKey(roles, "upsertAccount", { body: { ...person(viewer), password: PASSWORD, roles: [] } })).status).toBe(200);
    expect((await withKey(roles, "deleteAccount", { params: { id: viewer.id } })).status).toBe(200);
  });
});

test("a developer key with account:write and roles:write grants and revokes roles", async () => {
  const target = await site.addAccount("promoted", []);
  const set = (given: AccountRole[], keyRoles: string[]) =>
    withKey(keyRoles, "setRoles", { params: { id: target.id }, body: { roles: given } });
  expect((await set([MODERATOR], ["roles:write"])).status).toBe(403);
  expect((await set([MODERATOR], ["account:write", "roles:read"])).status).toBe(403);
  expect((await set([MODERATOR], ["account:write", "roles:write"])).status).toBe(200);
  expect((await set([], ["account:write", "roles:write"])).status).toBe(200);
});
