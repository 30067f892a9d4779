import { and, desc, eq, gt, sql } from "drizzle-orm";
import { isSharded, shardDb, shardOf, shardsOf } from "#db/databases.ts";
import { type AccountRow, accounts } from "#db/schema/accounts.ts";
import { sandboxes, sandboxMails } from "#db/schema/sandboxes.ts";
import { apiKeys, type SiteRow, sites } from "#db/schema/sites.ts";
import { randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { Failure, LostRace, notFound } from "#worker/lib/errors.ts";
import { newSandboxId, randomHex } from "#worker/lib/ids.ts";
import {
  accountEvent,
  insertAccount,
  newAccount,
  rejectPlaceholderEmail,
  rejectTakenEmail,
} from "#worker/services/accounts/account-rows.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { batchAll, commitIfUnchanged, type Ctx, newRow } from "#worker/services/core/context.ts";
import { ctxOf, fromEveryDb } from "#worker/services/core/databases.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import { newKey } from "#worker/services/sites/api-keys.ts";
import { toSite } from "#worker/services/sites/schemas.ts";
import { placeSite } from "#worker/services/sites/placement.ts";
import { newSiteRow } from "#worker/services/sites/site-row.ts";
import { KEPT_MAILS } from "./captured-mail.ts";
import { createContent } from "./content.ts";
import { refreshSandbox } from "./is-sandbox.ts";
import { newChallenge, requireProof } from "./proof-of-work.ts";
import { type ClaimSandbox, LIFETIME_MS, type SandboxProof } from "./schemas.ts";
import { numberOf } from "#worker/lib/variables.ts";

/** Creates a site that expires, with accounts, a key and a little content. Its secrets are shown only once. */
export async function createSandbox(ctx: Ctx, address: string, proof?: SandboxProof) {
  const capacity = requireCapacity(ctx.env);
  const anywhere: Ctx = { ...ctx, siteId: GLOBAL_AUDIENCE };
  await requireProof(anywhere, proof);
  await takeSlot(anywhere, "createSandbox", address);
  await takeSlot(anywhere, "createSandboxes", "");
  const siteId = newSandboxId(ctx.now);
  const slug = `sandbox-${randomHex(8)}`;
  const asSystem: Ctx = { ...ctx, siteId, caller: async () => ({ kind: "system" }) };
  const { own, ...created } = await placeSite(asSystem, { id: siteId, slug }, async (placed) => ({
    own: placed,
    ...(await insertSandbox(placed, slug, capacity - (await countElsewhere(placed)))),
  }));
  return { ...created, ...(await createContent(own)) };
}

async function insertSandbox(own: Ctx, slug: string, capacity: number) {
  const site = newSiteRow(own, { slug, name: "Sandbox" });
  const [{ key: developerKey, hash }, password, claimToken] = [await newKey(), randomToken(12), `tifo_claim_${randomToken(24)}`];
  const people = await newPeople(own, site, password);
  const expires = own.now + LIFETIME_MS;
  const changes = [
    insertWhileThereIsRoom(own, { claimHash: await sha256(claimToken), expires }, capacity),
    own.db.insert(sites).values(site),
    ...people.flatMap((person) => insertAccount(own, person)),
    own.db.insert(apiKeys).values({ ...newRow(own), hash, name: "First key", clientName: null, roles: ["*"], expires: null }),
  ];
  await requireRoom(() =>
    commitIfUnchanged(
      own,
      changes,
      { type: "site.created", resource: `site/${site.id}`, data: toSite(site) },
      ...people.map(newAccountEvent),
    ),
  );
  const [admin, viewer] = people;
  return { site, developerKey, password, claimToken, expires, admin, viewer };
}

/** How many sandboxes the other shards have. */
async function countElsewhere({ env, siteId }: Ctx): Promise<number> {
  if (!isSharded(env)) return 0;
  const own = await shardOf(env, siteId);
  const others = [...shardsOf(env).keys()].filter((shard) => shard !== own);
  const counts = await Promise.all(others.map((shard) => shardDb(env, shard).$count(sandboxes)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What has to be solved before a sandbox can be created. */
export async function getSandboxChallenge(ctx: Ctx) {
  requireCapacity(ctx.env);
  return newChallenge(ctx);
}

/** How many sandboxes the deployment may have at a time; a 404 if it offers none. */
function requireCapacity(env: Env): number {
  const capacity = numberOf(env, "TIFO_SANDBOXES");
  if (capacity > 0) return capacity;
  throw notFound("This deployment offers no sandboxes; its operator can set TIFO_SANDBOXES");
}

async function newPeople(ctx: Ctx, { slug }: SiteRow, password: string): Promise<[admin: AccountRow, viewer: AccountRow]> {
  const of = (name: string) => ({ email: emailOf(name, slug), name: `Sandbox ${name}`, marketingOptin: false });
  const admin = await newAccount(ctx, { ...of("admin"), password }, [{ scope: "*", pageId: [], write: true }]);
  const viewer = await newAccount(ctx, of("viewer"), []);
  // Hashing a password takes as long as everything else together.
  return [
    { ...admin, trusted: true },
    { ...viewer, passwordHash: admin.passwordHash, trusted: true },
  ];
}

function emailOf(name: string, slug: string): string {
  return `${name}@${slug}.example`;
}

function newAccountEvent(account: AccountRow) {
  return accountEvent("new_account", account);
}

/** The change that loses the race if the deployment has as many sandboxes as it may have. */
function insertWhileThereIsRoom(ctx: Ctx, { claimHash, expires }: { claimHash: string; expires: number }, capacity: number) {
  return ctx.db.insert(sandboxes).select(
    sql`select ${ctx.siteId}, ${claimHash}, 'active', ${expires}, ${expires}, '[]', ${ctx.now}
        where (select count(*) from ${sandboxes}) < ${capacity}`,
  );
}

async function requireRoom(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof LostRace)) throw error;
    throw new Failure("unavailable", "All of this deployment's sandboxes are in use; try again later", {
      headers: { "Retry-After": "600" },
    });
  }
}

/** Makes a sandbox a site like any other, with its owner as its admin. The password of the first admin stops working. */
export async function claimSandbox(ctx: Ctx, input: ClaimSandbox, address: string): Promise<{ site: SiteRow; admin: AccountRow }> {
  const { claimToken, ...person } = input;
  rejectPlaceholderEmail(person.email);
  const site = await findByToken(ctx, claimToken);
  const anywhere: Ctx = { ...ctx, siteId: GLOBAL_AUDIENCE };
  await takeSlot(anywhere, "claimSandbox", address);
  await takeSlot(anywhere, "claimSandboxes", "");
  const own: Ctx = { ...ctxOf(ctx, site.id), caller: async () => ({ kind: "system" }) };
  const fresh = await newAccount(own, { ...person, marketingOptin: false }, [{ scope: "*", pageId: [], write: true }]);
  const admin = { ...fresh, trusted: true };
  const changes = [
    own.db.delete(sandboxes).where(isActive(ctx, await sha256(claimToken))),
    own.db
      .update(accounts)
      .set({ passwordHash: null, passwordVersion: sql`${accounts.passwordVersion} + 1`, version: sql`${accounts.version} + 1` })
      .where(and(eq(accounts.siteId, site.id), eq(accounts.email, emailOf("admin", site.slug)))),
    own.db.delete(sandboxMails).where(eq(sandboxMails.siteId, site.id)),
    ...insertAccount(own, admin),
  ];
  await rejectTakenEmail(() => commitIfUnchanged(own, changes, newAccountEvent(admin)));
  refreshSandbox(site.id);
  return { site, admin };
}

/** Ends a sandbox now; the cron deletes what is left of it. */
export async function discardSandbox(ctx: Ctx, claimToken: string): Promise<void> {
  const site = await findByToken(ctx, claimToken);
  await closeSandbox(ctxOf(ctx, site.id), site.id);
}

/** Ends all access to a sandbox. */
export async function closeSandbox({ db, now }: Pick<Ctx, "db" | "now">, siteId: string): Promise<void> {
  const isOpen = sql`exists (select 1 from ${sandboxes} where ${sandboxes.siteId} = ${siteId} and ${sandboxes.state} = 'active')`;
  await batchAll(db, [
    db.delete(sites).where(and(eq(sites.id, siteId), isOpen)),
    db.delete(apiKeys).where(and(eq(apiKeys.siteId, siteId), isOpen)),
    // Signed-in requests read the account.
    db.delete(accounts).where(and(eq(accounts.siteId, siteId), isOpen)),
    db
      .update(sandboxes)
      .set({ state: "closed", due: now + CLOSING_MS })
      .where(and(eq(sandboxes.siteId, siteId), eq(sandboxes.state, "active"))),
  ]);
}

/** How long requests that were already running may take to end. */
const CLOSING_MS = 60_000;

/** When the site is deleted, null if it is kept; and the emails that it would have sent. */
export async function getSandbox(ctx: Ctx) {
  const [[row], mails] = await ctx.db.batch([
    ctx.db.select({ expires: sandboxes.expires }).from(sandboxes).where(eq(sandboxes.siteId, ctx.siteId)),
    ctx.db.select().from(sandboxMails).where(eq(sandboxMails.siteId, ctx.siteId)).orderBy(desc(sandboxMails.id)).limit(KEPT_MAILS),
  ]);
  return { expires: row?.expires ?? null, mails };
}

async function findByToken(ctx: Ctx, claimToken: string): Promise<SiteRow> {
  const isClaimed = isActive(ctx, await sha256(claimToken));
  const [found] = await fromEveryDb(ctx, (db) =>
    db.select({ site: sites }).from(sandboxes).innerJoin(sites, eq(sites.id, sandboxes.siteId)).where(isClaimed),
  );
  if (!found) throw notFound("No sandbox has this claim token; it may have expired or been claimed");
  return found.site;
}

function isActive(ctx: Ctx, claimHash: string) {
  return and(eq(sandboxes.claimHash, claimHash), eq(sandboxes.state, "active"), gt(sandboxes.expires, ctx.now));
}
