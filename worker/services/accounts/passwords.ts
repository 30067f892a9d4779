import { and, eq, gt, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { directoryDb, shardOf, siteDb } from "#db/databases.ts";
import type { PasswordKind } from "#db/enums.ts";
import { type AccountRow, accounts, globalAccounts, passwordResets } from "#db/schema/accounts.ts";
import { forbidden, invalid, notFound, replaceConflict } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import { type AskReset, type ChangePassword, STAFF_PASSWORD_LENGTH, STAFF_PASSWORD_TOO_SHORT, type UseReset } from "./schemas.ts";
import type { Tokens } from "#worker/services/auth/schemas.ts";
import { accountColumns } from "./columns.ts";
import { newPassword, normalizeEmail } from "./account-rows.ts";
import { newSession } from "#worker/services/auth/auth.ts";
import {
  batchAll,
  commit,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  nextVersion,
  ownRow,
  updateRow,
} from "#worker/services/core/context.ts";
import { ctxOf, directoryOf } from "#worker/services/core/databases.ts";
import { type CredentialChange, voidCredentials } from "./credentials.ts";
import { markVerified, type ProvedBy, verifiedEvent } from "./email-proofs.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import { dataOf, idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { mailableName, sendMail } from "#worker/services/custom-email/mail.ts";
import { mailedToken } from "#worker/services/custom-email/mail-links.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { newPlaces, rememberPlaces, requirePassword } from "#worker/services/auth/sign-in-attempts.ts";
import { isStudioPage, requireAllowedUrl } from "#worker/services/sites/current-site.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";

const RESET_MS = 60 * 60 * 1000;
/** The minimum time between two emails to one person. */
const MIN_GAP_MS = 60 * 1000;
const PURPOSE = "password reset";

/** A 400 for a password that is too short for an account with roles. */
export function requireStaffPassword({ roles }: { roles: unknown[] }, password: string, path = "password"): void {
  if (roles.length > 0 && password.length < STAFF_PASSWORD_LENGTH) throw invalid(path, STAFF_PASSWORD_TOO_SHORT);
}

/** Changes the caller's own password. Ends every session, including the caller's, and returns a new one. */
export async function changePassword(ctx: Ctx, input: ChangePassword, address: string): Promise<Tokens> {
  const actor = await ctx.caller();
  if (actor.kind !== "account") throw forbidden();
  const [current] = await ctx.db
    .select()
    .from(accounts)
    .where(ownRow(ctx, accounts, actor.id));
  if (!current) throw notFound("Account not found");
  const attempt = await requirePassword(ctx, current, input.oldPassword, address, invalid("oldPassword", "The old password is incorrect"));
  requireStaffPassword(current, input.password);
  const next = { id: current.id, ...(await newPassword(input.password, current)), ...nextVersion(ctx, current) };
  const session = await newSession(ctx, ctx.siteId, next);
  const change = updateRow(ctx, accounts, current, next);
  await commitIfUnchanged(ctx, [change, session.insert, attempt.remember(current)], passwordChanged(ctx, current.id, "site"));
  return session.tokens;
}

/**
 * Requests a reset; an effect of the event sends the email. The database alone decides whether the account exists and whether its last
 * mail is too recent, so the response doesn't reveal either.
 */
export async function requestReset(
  ctx: Ctx,
  input: AskReset,
  kind: PasswordKind,
  from: { address: string; origin: string },
): Promise<void> {
  await ctx.caller();
  await takeSlot(ctx, "resetPassword", from.address);
  const inStudio = isStudioPage(ctx, input.baseUrl, from.origin, kind === "site" ? "reset" : "reset-global");
  if (!inStudio) await requireAllowedUrl(ctx, "baseUrl", input.baseUrl);
  const id = newId(ctx.now);
  const email = normalizeEmail(input.email);
  const people = kind === "site" ? sql`${accounts}` : await globalPeople(ctx, email);
  const insert = ctx.db.insert(passwordResets).select(selectReset(ctx, kind, people, id, email, input.baseUrl));
  const data = { _id: passwordResets.id, siteId: passwordResets.siteId, accountId: siteAccountId(ctx, kind), kind: sql`${kind}` };
  const eventInsert = insertEventsForRows(ctx, await ctx.caller(), {
    ...{ type: "account.passwordResetRequested", area: "password-reset", table: passwordResets, data },
    where: ownRow(ctx, passwordResets, id),
  });
  await commit(ctx, [insert, eventInsert]);
}

/** The site's account of a reset: the account itself, or the one linked to the global account. */
function siteAccountId(ctx: Ctx, kind: PasswordKind): SQL {
  if (kind === "site") return sql`${passwordResets.accountId}`;
  return sql`(select a.id from ${accounts} a where a.site_id = ${ctx.siteId} and a.global_account_id = ${passwordResets.accountId})`;
}

/** The global accounts, where they are in the site's database; else a row with the one that has the address, or that nothing is linked to. */
async function globalPeople(ctx: Ctx, email: string): Promise<SQL> {
  if ((await shardOf(ctx.env, ctx.siteId)) === 1) return sql`${globalAccounts}`;
  const [found] = await directoryOf(ctx).select().from(globalAccounts).where(eq(globalAccounts.email, email));
  return sql`(select ${found?.id ?? ""} as id, ${found?.passwordVersion ?? 0} as password_version, ${email} as email)`;
}

function selectReset(ctx: Ctx, kind: PasswordKind, people: SQL, id: string, email: string, baseUrl: string): SQL {
  const rest = sql`person.id, person.password_version, ${baseUrl}, ${ctx.now}, ${ctx.now + RESET_MS}, null`;
  const isFirstMail = sql`not exists (select 1 from ${passwordResets} earlier where earlier.account_id = person.id and earlier.created > ${ctx.now - MIN_GAP_MS})`;
  if (kind === "site") {
    return sql`select ${id}, ${ctx.siteId}, ${ctx.siteId}, ${rest} from ${people} person
      where person.site_id = ${ctx.siteId} and person.email = ${email} and ${isFirstMail}`;
  }
  // The link points to an origin of this site, so it is only sent to a global account that administers the site.
  return sql`select ${id}, ${ctx.siteId}, ${GLOBAL_AUDIENCE}, ${rest} from ${people} person
    where person.email = ${email} and ${isFirstMail}
      and exists (select 1 from ${accounts} a where a.site_id = ${ctx.siteId} and a.global_account_id = person.id)`;
}

/** Sets a new password with a single-use token; that also verifies the address of a site's account. */
export async function redeemReset(ctx: Ctx, input: UseReset, kind: PasswordKind, address: string): Promise<void> {
  await ctx.caller();
  await takeSlot(ctx, "resetPassword", address);
  const invalidToken = invalid("token", "The token is invalid, expired or already used");
  const id = await readSigned(ctx.env, PURPOSE, input.token);
  if (id === undefined) throw invalidToken;
  const person = kind === "site" ? accounts : globalAccounts;
  const isElsewhere = kind === "global" && (await shardOf(ctx.env, ctx.siteId)) !== 1;
  const waiting = and(
    ownRow(ctx, passwordResets, id),
    eq(passwordResets.audience, kind === "site" ? ctx.siteId : GLOBAL_AUDIENCE),
    isNull(passwordResets.used),
    gt(passwordResets.expires, ctx.now),
  );
  const unused = and(
    waiting,
    eq(passwordResets.passwordVersion, sql`(select p.password_version from ${person} p where p.id = ${passwordResets.accountId})`),
  );
  const [found] = await ctx.db
    .select({ reset: passwordResets, accountId: sql<string | null>`${siteAccountId(ctx, kind)}` })
    .from(passwordResets)
    .where(isElsewhere ? waiting : unused);
  // A global account that no longer administers this site must reset its password through another one.
  if (!found?.accountId) throw invalidToken;
  const { reset, accountId } = found;
  const [account] = await ctx.db
    .select({ email: accounts.email, roles: accounts.roles })
    .from(accounts)
    .where(ownRow(ctx, accounts, accountId));
  if (!account) throw invalidToken;
  requireStaffPassword(account, input.password);
  // The caller reads the account's email: remember their location, so that a flood of wrong passwords can't lock them out.
  const audience: Ctx = isElsewhere ? ctxOf(ctx, GLOBAL_AUDIENCE) : { ...ctx, siteId: reset.audience };
  const remembered = rememberPlaces(audience, reset.accountId, await newPlaces(audience, account.email, address));
  const set = { ...(await newPassword(input.password, reset)), modified: ctx.now, version: sql`version + 1` };
  if (isElsewhere) {
    // The version that the token is for decides between two requests, and makes the token useless from then on.
    const isCurrent = and(eq(globalAccounts.id, reset.accountId), eq(globalAccounts.passwordVersion, reset.passwordVersion));
    const changed = await audience.db.update(globalAccounts).set(set).where(isCurrent).returning({ id: globalAccounts.id });
    if (changed.length === 0) throw invalidToken;
    await batchAll(audience.db, [remembered]);
    await commit(ctx, ctx.db.update(passwordResets).set({ used: ctx.now }).where(waiting), passwordChanged(ctx, accountId, kind));
    return;
  }
  const change = ctx.db.update(person).set(set).where(eq(person.id, reset.accountId));
  const used = ctx.db.update(passwordResets).set({ used: ctx.now }).where(unused);
  const proof = kind === "site" ? await proveByReset(ctx, accountId) : NO_PROOF;
  const changes = [used, change, ...proof.changes, remembered];
  await replaceConflict(invalidToken, () => commitIfUnchanged(ctx, changes, passwordChanged(ctx, accountId, kind), ...proof.events));
}

type Proof = Pick<CredentialChange, "changes" | "events">;

const NO_PROOF: Proof = { changes: [], events: [] };

/** A used reset link verifies the address and voids the other credentials that a stranger may have set. */
async function proveByReset(ctx: Ctx, accountId: string): Promise<Proof> {
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(ownRow(ctx, accounts, accountId));
  return account ? planProof(ctx, account, "reset") : NO_PROOF;
}

/** The changes when a person who can read an account's email sets its password. */
export async function planPasswordByMail(ctx: Ctx, account: AccountRow, password: string, address: string): Promise<Proof> {
  const changed = { ...(await newPassword(password, account)), modified: ctx.now, version: sql`${accounts.version} + 1` };
  const change = ctx.db
    .update(accounts)
    .set(changed)
    .where(ownRow(ctx, accounts, account.id));
  const proof = planProof(ctx, account, "mail");
  const remembered = rememberPlaces(ctx, account.id, await newPlaces(ctx, account.email, address));
  return { changes: [change, ...proof.changes, remembered], events: [passwordChanged(ctx, account.id, "site"), ...proof.events] };
}

function planProof(ctx: Ctx, account: AccountRow, by: ProvedBy): Proof {
  if (account.emailVerified !== null && account.trusted) return NO_PROOF;
  const events = account.emailVerified === null ? [verifiedEvent(ctx, account.id, by)] : [];
  const verified: Proof = { changes: [markVerified(ctx, account.id)], events };
  if (account.trusted) return verified;
  // Only staff, keys and partners write links, so they stay.
  const voided = voidCredentials(ctx, account, account.thirdPartyAuthProviders);
  return { changes: [...verified.changes, ...voided.changes], events: [...verified.events, ...voided.events] };
}

function passwordChanged(ctx: Ctx, accountId: string, kind: PasswordKind): NewEvent {
  return { type: "account.passwordChanged", resource: `account/${accountId}`, data: { _id: accountId, siteId: ctx.siteId, kind } };
}

// The version of the account's or the global account's current password.
const currentPasswordVersion = sql`case ${passwordResets.audience} when ${GLOBAL_AUDIENCE}
  then (select g.password_version from ${globalAccounts} g where g.id = ${passwordResets.accountId})
  else ${accounts.passwordVersion} end`;

/** Mails the link of a reset that is still valid; an effect of `account.passwordResetRequested`. */
export async function mailReset(env: Env, siteId: string, event: LoggedEvent<"account.passwordResetRequested">): Promise<void> {
  await mailLinkOf(env, siteId, event, idOf(event), "reset");
}

/** Mails the link that lets the owner of an address choose a new password; an effect of `account.credentialsVoided`. */
export async function mailNewPassword(env: Env, siteId: string, event: LoggedEvent<"account.credentialsVoided">): Promise<void> {
  const { resetId } = dataOf(event);
  if (resetId !== null) await mailLinkOf(env, siteId, event, resetId, "newPassword");
}

async function mailLinkOf(env: Env, siteId: string, event: LoggedEvent, id: string, template: "reset" | "newPassword"): Promise<void> {
  const db = siteDb(env, siteId);
  const isOfGlobal = eq(passwordResets.audience, GLOBAL_AUDIENCE);
  const isElsewhere =
    (await shardOf(env, siteId)) !== 1 && (await db.$count(passwordResets, and(eq(passwordResets.id, id), isOfGlobal))) > 0;
  const [reset] = await db
    .select({
      baseUrl: passwordResets.baseUrl,
      audience: passwordResets.audience,
      accountId: passwordResets.accountId,
      passwordVersion: passwordResets.passwordVersion,
      email: accounts.email,
      name: accounts.name,
    })
    .from(passwordResets)
    // A global account has no name: use the name of its account on this site.
    .innerJoin(
      accounts,
      and(
        eq(accounts.siteId, passwordResets.siteId),
        or(eq(accounts.id, passwordResets.accountId), eq(accounts.globalAccountId, passwordResets.accountId)),
      ),
    )
    .where(
      and(
        eq(passwordResets.id, id),
        eq(passwordResets.siteId, siteId),
        isNull(passwordResets.used),
        gt(passwordResets.expires, Date.now()),
        isElsewhere ? eq(passwordResets.audience, GLOBAL_AUDIENCE) : eq(passwordResets.passwordVersion, currentPasswordVersion),
      ),
    );
  if (!reset || (isElsewhere && !(await isCurrentGlobal(env, reset)))) return;
  const token = await signContent(env, PURPOSE, id);
  const mailed = await mailedToken(db, siteId, { baseUrl: reset.baseUrl, token, purpose: "new-password" });
  const from = reset.audience === GLOBAL_AUDIENCE ? "" : siteId;
  await sendMail(env, from, { template, to: reset.email, data: { name: mailableName(reset.name, "there"), ...mailed } }, event.id);
}

/** Whether a global account's password is still the one that a reset is for. */
async function isCurrentGlobal(env: Env, { accountId, passwordVersion }: { accountId: string; passwordVersion: number }): Promise<boolean> {
  const isCurrent = and(eq(globalAccounts.id, accountId), eq(globalAccounts.passwordVersion, passwordVersion));
  return (await directoryDb(env).$count(globalAccounts, isCurrent)) > 0;
}

/** Deletes resets a day after they expire. */
export async function pruneResets(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(passwordResets).where(lt(passwordResets.expires, ctx.now - 24 * 60 * 60 * 1000));
}
