import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { UserProfile } from "#worker/services/user-profiles/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

describe("a user profile", () => {
  test("is readable by its own account, with any role", async () => {
    for (const as of ["viewer", "creator", "admin"] as const) {
      const profile = (await site.call("getOwnUserProfile", { as })).as(UserProfile);
      expect(profile).toMatchObject({ accountId: site.accounts[as].id, name: as });
    }
  });

  test("is created with its account and publicly shows the name, not the email address", async () => {
    const email = `${randomHex(6)}@demo.example`;
    const body = { email, password: "demo-viewer-pass", name: "Vera Viewer" };
    const account = (await site.call("createAccount", { body })).as(Account);
    const token = await site.signIn({ id: account._id, email, roles: [] });
    const headers = { Authorization: `Bearer ${token}` };
    const own = (await site.call("getOwnUserProfile", { as: "client", headers })).as(UserProfile);
    const seen = await site.call("getUserProfile", { as: "client", params: { id: own._id } });
    expect(seen.as(UserProfile)).toEqual(own);
    expect(own).toMatchObject({ accountId: account._id, name: "Vera Viewer", created: account.created });
    expect(seen.text).not.toContain(email);
    expect(seen.log.d1.roundTrips).toBe(1);
  });

  test("follows the account's name, with a new ETag", async () => {
    const account = await site.addAccount(`person-${randomHex(4)}`, []);
    const headers = { Authorization: `Bearer ${await site.signIn(account)}` };
    const before = await site.call("getOwnUserProfile", { as: "client", headers });
    const change = { email: account.email, name: "Vera Winner", marketingOptin: false };
    const changed = await site.call("updateAccount", { as: "client", params: { id: account.id }, headers, body: change });
    expect(changed.status, changed.text).toBe(200);
    const after = await site.call("getOwnUserProfile", { as: "client", headers });
    expect(after.as(UserProfile).name).toBe("Vera Winner");
    expect(after.headers.get("ETag")).not.toBe(before.headers.get("ETag"));
  });

  test("of another site is a 404, as is an account id", async () => {
    const other = await newSite();
    const theirs = (await other.call("getOwnUserProfile")).as(UserProfile);
    expect((await site.call("getUserProfile", { params: { id: theirs._id } })).status).toBe(404);
    expect((await other.call("getUserProfile", { params: { id: theirs.accountId } })).status).toBe(404);
  });
});
