import { env } from "cloudflare:workers";
import { and, desc, eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { accounts, emailProofs, globalAccounts } from "#db/schema/accounts.ts";
import { newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { directory } from "#test/site-store.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { GlobalAccount, GlobalSite } from "#worker/services/accounts/schemas.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { createOnFirst, newSiteInput } from "./first-shard.ts";

const GLOBAL_PASSWORD = "the-global-password";
const GlobalSites = listOf(GlobalSite);

interface Member {
  siteId: string;
  accountId: string;
  db: Db;
}

let site: TestSite;
let here: Member;
let there: Member;
let email: string;

/** The same person administers a site on each shard. */
beforeAll(async () => {
  site = await newSite();
  const input = newSiteInput();
  email = input.admin.email;
  const onFirst = await createOnFirst(site, input);
  here = { siteId: onFirst.id, accountId: onFirst.adminId, db: siteDb(env, onFirst.id) };
  const roles = [{ scope: "*", pageId: [], write: true }];
  await site.call("upsertAccount", { body: { email, name: "Ada", password: PASSWORD, roles } });
  const db = siteDb(env, site.id);
  const isTheirs = and(eq(accounts.siteId, site.id), eq(accounts.email, email));
  const [account] = await db.select({ id: accounts.id }).from(accounts).where(isTheirs);
  there = { siteId: site.id, accountId: account?.id ?? "", db };
});

async function optIn({ siteId, accountId, db }: Member, password = GLOBAL_PASSWORD) {
  await db.update(accounts).set({ emailVerified: 1 }).where(eq(accounts.id, accountId));
  const { jwt } = (await site.call("login", { as: "nobody", body: { email, password: PASSWORD, siteId } })).as(Tokens);
  const client = { "Tifo-Client-Id": siteId };
  const asked = await site.call("requestGlobalAccount", { as: "nobody", body: {}, headers: { ...client, Authorization: `Bearer ${jwt}` } });
  expect(asked.status).toBe(200);
  const isTheirs = eq(emailProofs.accountId, accountId);
  const [proof] = await db.select({ id: emailProofs.id }).from(emailProofs).where(isTheirs).orderBy(desc(emailProofs.id)).limit(1);
  const token = await signContent(env, "global account", proof?.id ?? "");
  await db.update(emailProofs).set({ created: 1 }).where(eq(emailProofs.accountId, accountId));
  const response = await site.call("confirmGlobalAccount", { as: "nobody", body: { token, password }, headers: client });
  if (response.status !== 200) await db.delete(emailProofs).where(eq(emailProofs.accountId, accountId));
  return response;
}

const signIn = async () => (await site.call("login", { as: "nobody", body: { email, password: GLOBAL_PASSWORD } })).as(Tokens);
const linkOf = async ({ db, accountId }: Member) =>
  (await db.select({ id: accounts.globalAccountId }).from(accounts).where(eq(accounts.id, accountId)))[0]?.id;

test("a global account spans the shards: it is linked, listed, reset and deleted on each", async () => {
  const created = (await optIn(there)).as(GlobalAccount);
  expect(await linkOf(there)).toBe(created._id);
  expect(await directory.$count(globalAccounts, eq(globalAccounts.email, email))).toBe(1);
  // It is linked on the other shard, so an email alone doesn't take it over.
  expect((await optIn(here, "not-its-password")).problem).toMatchObject({ status: 400, issues: [{ path: "password" }] });
  expect((await optIn(here)).as(GlobalAccount)._id).toBe(created._id);

  const headers = { Authorization: `Bearer ${(await signIn()).jwt}` };
  const listed = async (query: Record<string, string | number>) =>
    (await site.call("listGlobalSites", { as: "nobody", query, headers })).as(GlobalSites);
  const all = await listed({ limit: 10 });
  expect(all.results.map(({ siteId }) => siteId).sort()).toEqual([here.siteId, there.siteId].sort());
  const slugs = all.results.map(({ slug }) => slug);
  expect(slugs).toEqual([...slugs].sort());
  const [firstPage, secondPage] = [await listed({ limit: 1 }), await listed({ limit: 1, offset: 1 })];
  expect([...firstPage.results, ...secondPage.results]).toEqual(all.results);

  const refreshed = await site.call("refreshTokens", { as: "nobody", body: { refreshToken: (await signIn()).refreshToken } });
  expect(refreshed.status).toBe(200);

  // The last link that goes takes the account with it, and no earlier one does.
  const remove = (on: Member) => site.call("deleteGlobalAccount", { as: "nobody", headers: { ...headers, "Tifo-Client-Id": on.siteId } });
  expect((await remove(here)).status).toBe(200);
  expect([await linkOf(here), await linkOf(there)]).toEqual([null, null]);
  expect(await directory.$count(globalAccounts, eq(globalAccounts.email, email))).toBe(0);
});

test("a global account stays while an account on another shard is linked to it, and goes with the last one", async () => {
  expect([(await optIn(there)).status, (await optIn(here)).status]).toEqual([200, 200]);
  const count = () => directory.$count(globalAccounts, eq(globalAccounts.email, email));
  const { jwt } = (await site.call("login", { as: "nobody", body: { email, password: PASSWORD, siteId: there.siteId } })).as(Tokens);
  const headers = { "Tifo-Client-Id": there.siteId, Authorization: `Bearer ${jwt}` };
  const removed = await site.call("deleteAccount", { as: "nobody", params: { id: there.accountId }, headers });
  expect([removed.status, await count()]).toEqual([200, 1]);
  await here.db.update(accounts).set({ globalAccountId: null }).where(eq(accounts.id, here.accountId));
  // Nothing is linked any more: the email is enough to choose a new password.
  expect((await optIn(here, "a-new-global-password")).status).toBe(200);
  expect(await count()).toBe(1);
});
