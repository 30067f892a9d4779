import { eq } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import type { AccountRole } from "#db/types.ts";
import { type ApiResponse, newSite, type TestAccount, type TestSite } from "#test/harness.ts";
import { newId } from "#worker/lib/ids.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { AccountList, AccountRoles } from "#worker/services/accounts/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };
const READER: AccountRole = { ...ADMIN, write: false };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

/** Calls an operation as an account. */
async function as(account: TestAccount, operationId: string, id: string, body?: unknown, on = site): Promise<ApiResponse> {
  const headers = { Authorization: `Bearer ${await on.signIn(account)}` };
  return on.call(operationId, { as: "client", params: { id }, body, headers });
}

const setRoles = (account: TestAccount, target: TestAccount, roles: AccountRole[], on = site): Promise<ApiResponse> =>
  as(account, "setRoles", target.id, { roles }, on);

async function rolesOf(account: TestAccount): Promise<AccountRole[] | undefined> {
  return (await db.select().from(accounts).where(eq(accounts.id, account.id)))[0]?.roles;
}

describe("an account's roles", () => {
  test("can be read only by the account itself, admins and keys", async () => {
    const { admin, reader, creator, viewer } = site.accounts;
    const creators = { _id: creator.id, roles: creator.roles };
    for (const account of [admin, reader, creator]) expect((await as(account, "getRoles", creator.id)).as(AccountRoles)).toEqual(creators);
    expect((await site.call("getRoles", { params: { id: creator.id } })).as(AccountRoles)).toEqual(creators);
    expect((await as(viewer, "getRoles", creator.id)).problem?.code).toBe("forbidden");
  });

  test("take effect immediately for open sessions", async () => {
    const person = await site.addAccount("promoted", []);
    const headers = { Authorization: `Bearer ${await site.signIn(person)}` };
    const list = () => site.call("listAccounts", { as: "client", headers });
    expect((await list()).status).toBe(403);
    expect((await setRoles(site.accounts.admin, person, [READER])).as(AccountRoles).roles).toEqual([READER]);
    expect((await list()).status).toBe(200);
    await setRoles(site.accounts.admin, person, []);
    expect((await list()).status).toBe(403);
  });

  test("are rejected for channels that aren't on this site", async () => {
    const other = await newSite();
    const person = await site.addAccount("wanderer", []);
    for (const pageId of [other.channels[0], newId(Date.now())]) {
      const response = await setRoles(site.accounts.admin, person, [{ ...ADMIN, pageId: [site.channels[0], pageId] }]);
      expect(response.problem).toMatchObject({ status: 400, issues: [{ path: "roles" }] });
    }
    expect(await rolesOf(person)).toEqual([]);
  });

  test("may keep a channel that has been deleted, in any operation, but not gain one", async () => {
    const [deleted, channelId] = [await site.addChannel("deleted"), site.channels[0]];
    const person = await site.addAccount("stays", [{ ...ADMIN, pageId: [deleted, channelId] }]);
    const other = await site.addAccount("gains", [{ ...ADMIN, pageId: [channelId] }]);
    await site.call("deletePage", { params: { id: deleted } });
    const kept = [
      { ...ADMIN, pageId: [deleted, channelId] },
      { ...READER, pageId: [] },
    ];
    expect((await setRoles(site.accounts.admin, person, kept)).as(AccountRoles).roles).toEqual(kept);
    expect((await site.call("upsertAccount", { body: { email: person.email, name: "Stays", roles: kept } })).status).toBe(200);
    expect((await setRoles(site.accounts.admin, other, kept)).problem).toMatchObject({ status: 400, issues: [{ path: "roles" }] });
  });

  test("can't make a new admin, of the site or a channel, if the site allows none", async () => {
    const closed = await newSite();
    const settings = { security: { allowNewAdmins: false } };
    await closed.call("updateSite", { body: { name: "Closed", settings } });
    const { admin, reader, viewer, creator } = closed.accounts;
    for (const role of [ADMIN, { ...ADMIN, pageId: [closed.channels[0]] }]) {
      expect((await setRoles(admin, viewer, [role], closed)).problem?.message).toContain("allowNewAdmins");
    }
    const upsert = await closed.call("upsertAccount", { body: { email: "new@closed.example", name: "New", roles: [ADMIN] } });
    expect(upsert.problem?.code).toBe("forbidden");
    expect((await setRoles(admin, viewer, [{ ...READER, scope: "Chat_Moderator" }], closed)).status).toBe(200);
    expect((await setRoles(admin, reader, [ADMIN], closed)).status).toBe(200);
    for (const role of [ADMIN, READER])
      expect((await setRoles(admin, creator, [role], closed)).problem?.message).toContain("allowNewAdmins");
    const wider = { ...ADMIN, pageId: [...closed.channels] };
    expect((await setRoles(admin, creator, [wider], closed)).status).toBe(200);
    expect((await setRoles(admin, creator, [], closed)).status).toBe(200);
  });

  test("emit account.rolesUpdated when changed", async () => {
    const person = await site.addAccount("logged", []);
    await setRoles(site.accounts.admin, person, [READER]);
    const { results } = (await site.call("listEvents", { query: { types: "account.rolesUpdated" } })).as(EventList);
    expect(results.at(-1)).toMatchObject({ resource: `account/${person.id}`, data: { _id: person.id, roles: [READER] } });
  });
});

describe("the last admin of a site", () => {
  test("can't be demoted, by setRoles or upsert, or deleted, by anyone", async () => {
    const { admin } = site.accounts;
    const email = admin.email;
    const attempts = [
      await setRoles(admin, admin, [READER]),
      await site.call("setRoles", { params: { id: admin.id }, body: { roles: [] } }),
      await site.call("upsertAccount", { body: { email, name: "Ada", roles: [] } }),
      await as(admin, "deleteAccount", admin.id),
      await site.call("deleteAccount", { params: { id: admin.id } }),
    ];
    expect(attempts.map((response) => response.problem?.code)).toEqual(Array.from({ length: 5 }, () => "conflict"));
    expect(await rolesOf(admin)).toEqual([ADMIN]);
  });

  test.for(["demote", "delete"] as const)("remains when two admins %s each other concurrently", async (how) => {
    for (let round = 0; round < 5; round += 1) {
      const own = await newSite();
      const one = own.accounts.admin;
      const two = await own.addAccount("second", [ADMIN]);
      const attack = (from: TestAccount, to: TestAccount) =>
        how === "demote" ? setRoles(from, to, [], own) : as(from, "deleteAccount", to.id, undefined, own);
      const statuses = (await Promise.all([attack(one, two), attack(two, one)])).map((response) => response.status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      const left = [await rolesOf(one), await rolesOf(two)].filter((roles) => roles?.length === 1);
      expect(left).toEqual([[ADMIN]]);
    }
  });
});

describe("finding accounts by their roles", () => {
  const find = async (query: Record<string, string | boolean>, on: TestSite): Promise<string[]> =>
    (await on.call("queryRoles", { query: { sortBy: "name", ...query } })).as(AccountList).results.map((account) => account.name);

  test("returns those with a single role that has every requested property", async () => {
    const own = await newSite();
    const [first, second] = own.channels;
    await own.addAccount("chat", [{ scope: "Chat_Moderator", pageId: [second], write: true }]);
    await own.addAccount("mixed", [READER, { scope: "Question_Answer_Moderator", pageId: [first], write: true }]);
    expect(await find({ admin: true }, own)).toEqual(["admin", "creator", "mixed", "reader"]);
    expect(await find({ admin: false }, own)).toEqual(["chat", "viewer"]);
    expect(await find({ scope: "Chat_Moderator" }, own)).toEqual(["chat"]);
    expect(await find({ pageId: first }, own)).toEqual(["creator", "mixed"]);
    expect(await find({ scope: "*", write: true }, own)).toEqual(["admin", "creator"]);
    expect(await find({ scope: "*", pageId: first }, own)).toEqual(["creator"]);
    expect(await find({ write: false }, own)).toEqual(["mixed", "reader"]);
    expect(await find({}, own)).toHaveLength(6);
    expect(await find({ admin: true, search: "mix" }, own)).toEqual(["mixed"]);
  });

  test("filters by address, name and tags, alone and combined with roles", async () => {
    const own = await newSite();
    await own.addAccount("Zoë", [], ["team:home", "vip"]);
    await own.addAccount("moderator", [{ scope: "Chat_Moderator", pageId: [], write: true }], ["vip"]);
    expect(await find({ email: `ADMIN@${own.slug}.example` }, own)).toEqual(["admin"]);
    expect(await find({ email: "admin" }, own)).toEqual([]);
    expect(await find({ name: "zoe" }, own)).toEqual(["Zoë"]);
    expect(await find({ tags: "team:home" }, own)).toEqual(["viewer", "Zoë"]);
    expect(await find({ tags: "team:home,vip" }, own)).toEqual(["Zoë"]);
    expect(await find({ tags: "vip", scope: "Chat_Moderator" }, own)).toEqual(["moderator"]);
    expect(await find({ tags: "vip", admin: true }, own)).toEqual([]);
    expect((await own.call("queryRoles", { query: { tags: "" } })).fields).toEqual(["tags.0"]);
  });
});

describe("for random roles", () => {
  const roleOn = (pages: readonly string[]): fc.Arbitrary<AccountRole> =>
    fc.record({
      scope: fc.constantFrom("*", "*", "Chat_Moderator", "Question_Answer_Moderator"),
      pageId: fc.subarray([...pages]),
      write: fc.boolean(),
    });

  // A reference model of the rules, independent of the implementation.
  const reaches = (roles: AccountRole[], writes: boolean, page?: string): boolean =>
    roles.some(
      (role) =>
        role.scope === "*" && (role.write || !writes) && (role.pageId.length === 0 || (page !== undefined && role.pageId.includes(page))),
    );
  const rules: Record<string, (roles: AccountRole[], own: boolean, page: string) => boolean> = {
    listAccounts: (roles) => reaches(roles, false),
    queryRoles: (roles) => reaches(roles, false),
    getAccount: (roles, own) => own || reaches(roles, false),
    getRoles: (roles, own) => own || reaches(roles, false),
    updateAccount: (roles, own) => own || reaches(roles, true),
    setRoles: (roles) => reaches(roles, true),
    createPage: (roles) => reaches(roles, true),
    updatePage: (roles, _own, page) => reaches(roles, true, page),
  };
  const bodies: Record<string, unknown> = {
    updateAccount: { name: "Somebody" },
    setRoles: { roles: [] },
    // Incomplete: if allowed, it is a 400, and nothing is created.
    createPage: { type: "channel" },
  };

  test("the API allows exactly what the rules allow", async () => {
    const person = await site.addAccount("anyone", []);
    const target = await site.addAccount("target", []);
    const headers = { Authorization: `Bearer ${await site.signIn(person)}` };
    const roles = fc.array(roleOn(site.channels), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        roles,
        fc.constantFrom(...Object.keys(rules)),
        fc.boolean(),
        fc.constantFrom(...site.channels),
        async (given, operationId, own, page) => {
          await db.update(accounts).set({ roles: given }).where(eq(accounts.id, person.id));
          const onPage = operationId === "updatePage";
          const id = onPage ? page : own && operationId !== "setRoles" ? person.id : target.id;
          const body = onPage ? { slug: `slug-${page}`, data: { name: "Channel" } } : bodies[operationId];
          const response = await site.call(operationId, { as: "client", params: { id }, body, headers });
          expect(response.status !== 403, `${operationId} ${JSON.stringify(given)} ${response.text}`).toBe(
            rules[operationId]?.(given, own, page),
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  test("role changes always leave an admin, and only admins can make them", async () => {
    const own = await newSite();
    const people = [own.accounts.admin, await own.addAccount("two", []), await own.addAccount("three", [])];
    await db.update(accounts).set({ roles: [] }).where(eq(accounts.id, own.accounts.reader.id));
    const tokens = await Promise.all(people.map((person) => own.signIn(person)));
    const index = fc.nat({ max: people.length - 1 });
    const step = fc.record({ by: index, to: index, roles: fc.array(roleOn(own.channels), { maxLength: 2 }) });
    const isAdmin = (roles: AccountRole[] | undefined): boolean => reaches(roles ?? [], true);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(roleOn([]), { maxLength: 1 }), { minLength: 3, maxLength: 3 }),
        fc.array(step, { maxLength: 8 }),
        async (start, steps) => {
          const state = start.map((roles, place) => (place === 0 ? [ADMIN] : roles));
          for (const [place, person] of people.entries())
            await db
              .update(accounts)
              .set({ roles: state[place] ?? [] })
              .where(eq(accounts.id, person.id));
          for (const { by, to, roles } of steps) {
            const others = state.some((held, place) => place !== to && isAdmin(held));
            const expected = !isAdmin(state[by]) ? 403 : isAdmin(state[to]) && !isAdmin(roles) && !others ? 409 : 200;
            const headers = { Authorization: `Bearer ${tokens[by]}` };
            const response = await own.call("setRoles", { as: "client", params: { id: people[to]?.id ?? "" }, body: { roles }, headers });
            expect(response.status).toBe(expected);
            if (expected === 200) state[to] = roles;
          }
          expect(await Promise.all(people.map(rolesOf))).toEqual(state);
        },
      ),
      { numRuns: 25 },
    );
  });
});
