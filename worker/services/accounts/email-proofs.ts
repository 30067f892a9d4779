import { and, eq, gt, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import type { EmailProofPurpose } from "#db/enums.ts";
import { type AccountRow, accounts, emailProofs, type ProofRow } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import { invalid } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import type { AskVerification } from "./schemas.ts";
import { accountColumns } from "./columns.ts";
import { normalizeEmail, PLACEHOLDER_DOMAIN } from "./account-rows.ts";
import { commit, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import { mailableName, sendMail } from "#worker/services/custom-email/mail.ts";
import { mailedToken } from "#worker/services/custom-email/mail-links.ts";
import { idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { requireAllowedUrl } from "#worker/services/sites/current-site.ts";

const HOUR_MS = 60 * 60 * 1000;
/** The minimum time between two emails to one person, and the most per day. */
const MIN_GAP_MS = 60 * 1000;
const MAX_PER_DAY = 10;

const KINDS = {
  verify: { sign: "email verification", lifetime: 24 * HOUR_MS, event: "account.emailVerificationRequested" },
  global: { sign: "global account", lifetime: HOUR_MS, event: "account.globalAccountRequested" },
} as const satisfies Record<EmailProofPurpose, { sign: string; lifetime: number; event: string }>;

/** How a person proved that they own an address. */
export type ProvedBy = "mail" | "reset" | "invite" | "partner";

/** A new proof; add `insert` and `event` to the commit that requires it. An effect of the event sends the email. */
export function newProof(
  ctx: Ctx,
  account: Pick<AccountRow, "id" | "emailHash">,
  purpose: EmailProofPurpose,
  baseUrl = "",
): { insert: BatchItem<"sqlite">; event: NewEvent } {
  const id = newId(ctx.now);
  const { lifetime, event } = KINDS[purpose];
  const insert = ctx.db.insert(emailProofs).values({
    ...{ id, siteId: ctx.siteId, accountId: account.id, emailHash: account.emailHash },
    ...{ purpose, baseUrl, created: ctx.now, expires: ctx.now + lifetime },
  });
  return { insert, event: { type: event, resource: `email-proof/${id}`, data: { _id: id, siteId: ctx.siteId, accountId: account.id } } };
}

/**
 * Requests a verification email for the caller's own address or, without a sign-in, the one in the body. As with password resets, the
 * database alone decides whether to send one, so the response doesn't reveal whether the account exists.
 */
export async function requestVerification(ctx: Ctx, input: AskVerification, address: string): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" && input.email === undefined) throw invalid("email", "Required without a bearer token");
  const isPerson = actor.kind === "account" ? sql`person.id = ${actor.id}` : sql`person.email = ${normalizeEmail(input.email ?? "")}`;
  await requestProof(ctx, "verify", sql`${isPerson} and person.email_verified is null`, input.baseUrl, address);
}

/** Mails a token to the account of the site that `which` selects (as `person`), unless it has had too many emails. */
export async function requestProof(
  ctx: Ctx,
  purpose: EmailProofPurpose,
  which: SQL,
  baseUrl: string | undefined,
  address: string,
): Promise<void> {
  await takeSlot(ctx, "verifyEmail", address);
  if (baseUrl !== undefined) await requireAllowedUrl(ctx, "baseUrl", baseUrl);
  const id = newId(ctx.now);
  const { lifetime, event } = KINDS[purpose];
  const sentSince = (since: number) =>
    sql`(select count(*) from ${emailProofs} earlier where earlier.account_id = person.id and earlier.created > ${since})`;
  const insert = ctx.db.insert(emailProofs).select(
    sql`select ${id}, ${ctx.siteId}, person.id, ${purpose}, person.email_hash, ${baseUrl ?? ""}, ${ctx.now}, ${ctx.now + lifetime}, null
      from ${accounts} person where person.site_id = ${ctx.siteId} and ${which} and person.email not like ${`%${PLACEHOLDER_DOMAIN}`}
        and ${sentSince(ctx.now - MIN_GAP_MS)} = 0 and ${sentSince(ctx.now - 24 * HOUR_MS)} < ${MAX_PER_DAY}`,
  );
  const eventInsert = insertEventsForRows(ctx, await ctx.caller(), {
    ...{ type: event, area: "email-proof", table: emailProofs, where: ownRow(ctx, emailProofs, id) },
    data: { _id: emailProofs.id, siteId: emailProofs.siteId, accountId: emailProofs.accountId },
  });
  await commit(ctx, [insert, eventInsert]);
}

/** The account of a token, and the statement that uses the token if `condition` holds; it affects no row if another request came first. */
export async function findProof(
  ctx: Ctx,
  purpose: EmailProofPurpose,
  token: string,
): Promise<{ account: AccountRow; use: (condition?: SQL) => BatchItem<"sqlite"> } | undefined> {
  const id = await readSigned(ctx.env, KINDS[purpose].sign, token);
  if (id === undefined) return undefined;
  const valid = and(
    ownRow(ctx, emailProofs, id),
    eq(emailProofs.purpose, purpose),
    isNull(emailProofs.used),
    gt(emailProofs.expires, ctx.now),
    eq(emailProofs.emailHash, sql`(select a.email_hash from ${accounts} a where a.id = ${emailProofs.accountId})`),
  );
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(
      and(eq(accounts.siteId, ctx.siteId), sql`${accounts.id} = (select ${emailProofs.accountId} from ${emailProofs} where ${valid})`),
    );
  const use = (condition?: SQL) => ctx.db.update(emailProofs).set({ used: ctx.now }).where(and(valid, condition));
  return account && { account, use };
}

/**
 * Records that the person who owns the address is the one who signs in. A third-party sign-in proves nothing about the mailbox and may have
 * been planted by a key, so with one an account is trusted only if it was before.
 */
export function markVerified(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db
    .update(accounts)
    .set({
      emailVerified: sql`coalesce(${accounts.emailVerified}, ${ctx.now})`,
      trusted: sql`${accounts.trusted} or json_array_length(${accounts.thirdPartyAuthProviders}) = 0`,
      modified: ctx.now,
      version: sql`${accounts.version} + 1`,
    })
    .where(ownRow(ctx, accounts, accountId));
}

export function verifiedEvent(ctx: Ctx, accountId: string, by: ProvedBy): NewEvent {
  return { type: "account.emailVerified", resource: `account/${accountId}`, data: { _id: accountId, siteId: ctx.siteId, by } };
}

/** Voids the mailed tokens of an account, after its address changed or it was deleted. */
export function deleteProofs(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db.delete(emailProofs).where(and(eq(emailProofs.siteId, ctx.siteId), eq(emailProofs.accountId, accountId)));
}

/** Mails the token of a proof that is still needed; an effect of the events that request one. */
export async function mailProof(
  env: Env,
  siteId: string,
  event: LoggedEvent<"account.emailVerificationRequested" | "account.globalAccountRequested">,
): Promise<void> {
  const id = idOf(event);
  const db = siteDb(env, siteId);
  const [found] = await db
    .select({ proof: emailProofs, email: accounts.email, name: accounts.name, verified: accounts.emailVerified })
    .from(emailProofs)
    .innerJoin(accounts, and(eq(accounts.id, emailProofs.accountId), eq(accounts.emailHash, emailProofs.emailHash)))
    .where(and(eq(emailProofs.id, id), eq(emailProofs.siteId, siteId), isNull(emailProofs.used), gt(emailProofs.expires, Date.now())));
  if (!found) return;
  const { proof, email: to, name, verified } = found;
  const token = await signContent(env, KINDS[proof.purpose].sign, id);
  if (proof.purpose === "verify") {
    if (verified !== null) return;
    const data = { name: mailableName(name, "there"), ...(await tokenFor(db, proof, token)) };
    return sendMail(env, siteId, { template: "verifyEmail", to, data }, event.id);
  }
  const [site] = await db.select({ name: sites.name }).from(sites).where(eq(sites.id, siteId));
  const data = { siteName: mailableName(site?.name ?? "", "a site"), ...(await tokenFor(db, proof, token)) };
  return sendMail(env, "", { template: "globalAccount", to, data }, event.id);
}

function tokenFor(db: Db, { siteId, purpose, baseUrl }: ProofRow, token: string) {
  return mailedToken(db, siteId, { baseUrl, token, purpose: purpose === "verify" ? "verify-email" : "global-account" });
}

/** Deletes proofs a day after they expire. */
export async function pruneProofs(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(emailProofs).where(lt(emailProofs.expires, ctx.now - 24 * HOUR_MS));
}
