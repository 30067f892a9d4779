import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "../../../db/client.ts";
import { globalAccounts } from "../../../db/schema/index.ts";
import type { AccountRole } from "../../../db/types.ts";
import { type Answer, newSite, PASSWORD, type TestSite } from "../../../test/harness.ts";
import { listOf } from "../../http/listing.ts";
import { randomHex } from "../../lib/ids.ts";
import { Tokens } from "../auth/schemas.ts";
import { Account, GlobalSite } from "./schemas.ts";

const db = createDb(env.DB);
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };
const GlobalSites = listOf(GlobalSite);

let one: TestSite;
let two: TestSite;

beforeAll(async () => {
  [one, two] = [await newSite(), await newSite()];
});

const newEmail = (): string => `${randomHex(6)}@admins.example`;

async function join(on: TestSite, email: string, roles: AccountRole[], password = PASSWORD): Promise<Account> {
  return (await on.call("upsertAccount", { body: { email, name: "Gil", password, roles } })).as(Account);
}

type Account = ReturnType<typeof Account.parse>;

const read = async (on: TestSite, { _id: id }: Account): Promise<Account> => (await on.call("getAccount", { params: { id } })).as(Account);
const setRoles = (on: TestSite, { _id: id }: Account, roles: AccountRole[]): Promise<Answer> =>
  on.call("setRoles", { params: { id }, body: { roles } });
const globalsOf = (email: string) => db.select().from(globalAccounts).where(eq(globalAccounts.email, email));
const signIn = (email: string, password = PASSWORD): Promise<Answer> => one.call("login", { as: "nobody", body: { email, password } });

describe("an admin of several sites under one e-mail", () => {
  test("is one global account, however the roles came, with the first site's password", async () => {
    const email = newEmail();
    const first = await join(one, email, [ADMIN], "the-first-password");
    const second = await join(two, email, [], "the-second-password");
    expect([first, second].map((account) => account.globalAccountID)).toEqual([null, null]);
    await setRoles(two, second, [{ ...ADMIN, write: false }]);
    const [global] = await globalsOf(email);
    expect([(await read(one, first)).globalAccountID, (await read(two, second)).globalAccountID]).toEqual([global?.id, global?.id]);
    expect((await signIn(email, "the-second-password")).status).toBe(401);
    expect((await signIn(email, "the-first-password")).status).toBe(200);
  });

  test("is found out by an upsert, whose answer says so", async () => {
    const email = newEmail();
    await join(one, email, [ADMIN]);
    expect((await join(two, email, [ADMIN])).globalAccountID).toBe((await globalsOf(email))[0]?.id);
  });

  test("counts as admin of sites, not of channels and not as moderator", async () => {
    const email = newEmail();
    await join(one, email, [ADMIN]);
    const roles: AccountRole[] = [
      { ...ADMIN, pageId: [two.channels[0]] },
      { ...ADMIN, scope: "Chat_Moderator" },
    ];
    expect((await join(two, email, roles)).globalAccountID).toBeNull();
    expect(await globalsOf(email)).toEqual([]);
  });

  test("is joined also when both sites promote at the same instant", async () => {
    const email = newEmail();
    const [first, second] = [await join(one, email, []), await join(two, email, [])];
    await Promise.all([setRoles(one, first, [ADMIN]), setRoles(two, second, [ADMIN])]);
    const global = (await globalsOf(email))[0]?.id;
    expect(global).toBeDefined();
    expect([(await read(one, first)).globalAccountID, (await read(two, second)).globalAccountID]).toEqual([global, global]);
  });

  test("stays global when demoted on one of them, and is none when on all", async () => {
    const email = newEmail();
    const [first, second] = [await join(one, email, [ADMIN]), await join(two, email, [ADMIN])];
    const global = (await globalsOf(email))[0]?.id;
    await setRoles(one, first, []);
    expect([(await read(one, first)).globalAccountID, (await read(two, second)).globalAccountID]).toEqual([null, global]);
    await two.call("deleteAccount", { params: { id: second._id } });
    expect(await globalsOf(email)).toEqual([]);
  });

  test("moves with a change of e-mail", async () => {
    const [email, elsewhere] = [newEmail(), newEmail()];
    const [first, second] = [await join(one, email, [ADMIN]), await join(two, elsewhere, [ADMIN])];
    const moved = (await two.call("updateAccount", { params: { id: second._id }, body: { name: "Gil", email } })).as(Account);
    expect(moved.globalAccountID).toBe((await read(one, first)).globalAccountID);
    expect(moved.globalAccountID).not.toBeNull();
    const back = (await two.call("updateAccount", { params: { id: second._id }, body: { name: "Gil", email: elsewhere } })).as(Account);
    expect(back.globalAccountID).toBeNull();
    expect((await read(one, first)).globalAccountID).toBe(moved.globalAccountID);
  });
});

describe("a global account's sites", () => {
  const list = (headers: Record<string, string>, query = {}): Promise<Answer> =>
    one.call("listGlobalSites", { as: "nobody", headers, query });

  test("are those that it administers, found by their slug", async () => {
    const email = newEmail();
    const [first, second] = [await join(one, email, [ADMIN]), await join(two, email, [ADMIN])];
    const headers = { Authorization: `Bearer ${(await signIn(email)).as(Tokens).jwt}` };
    const all = (await list(headers)).as(GlobalSites);
    const expected = [
      { _id: first._id, siteId: one.id, slug: one.slug },
      { _id: second._id, siteId: two.id, slug: two.slug },
    ].sort((left, right) => (left.slug < right.slug ? -1 : 1));
    expect(all.results).toEqual(expected);
    expect(all.pagination.totalCount).toBe(2);
    expect((await list(headers, { search: one.slug })).as(GlobalSites).results.map((row) => row.siteId)).toEqual([one.id]);
    const page = (await list(headers, { limit: 1 })).as(GlobalSites);
    expect(page.results).toEqual(expected.slice(0, 1));
    const next = new URL(page.pagination.next ?? "", "https://tifo.test").searchParams;
    expect((await list(headers, Object.fromEntries(next))).as(GlobalSites).results).toEqual(expected.slice(1));
    await setRoles(one, first, []);
    expect((await list(headers)).as(GlobalSites).results.map((row) => row.siteId)).toEqual([two.id]);
  });

  test("are all read by the operator, and none by a sign-in to one site", async () => {
    const email = newEmail();
    const joined = [await join(one, email, [ADMIN]), await join(two, email, [ADMIN])].map((account) => account._id);
    const operator = (await list(await one.headersOf("super"), { search: one.slug, limit: 200 })).as(GlobalSites);
    expect(operator.results.map((row) => row._id)).toContain(joined[0]);
    expect((await list({ Authorization: `Bearer ${await one.signIn(one.accounts.admin)}` })).problem?.code).toBe("forbidden");
  });
});
