import { and, count, eq, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { accounts, recoveryCodes, totpSecrets } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import { randomCode } from "#worker/lib/crypto/codes.ts";
import { open, seal, sha256 } from "#worker/lib/crypto/crypto.ts";
import { wonRace, conflict, Failure, invalid, notFound, replaceConflict } from "#worker/lib/errors.ts";
import { newTotpSecret, totpStep, totpUri } from "#worker/lib/crypto/totp.ts";
import type { DisableTotp, Totp } from "./schemas.ts";
import { callerAccount, commitIfUnchanged, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { planOtherSessionEnds } from "./session-ends.ts";
import { requireCanGrantRoles, requiresTotp } from "#worker/services/accounts/role-rules.ts";
import { requirePassword, SignInAttempt } from "./sign-in-attempts.ts";

const PURPOSE = "totp secret";
const RECOVERY_CODES = 10;
/** Of 32 characters each: 80 bits. */
const RECOVERY_LENGTH = 16;
const NOT_ENABLED = "No authenticator app is set up";

/** The state of the caller's authenticator app. */
export async function readTotp(ctx: Ctx): Promise<Totp> {
  const { id } = await callerAccount(ctx);
  const [[found], [codes]] = await ctx.db.batch([
    ctx.db
      .select({ confirmedAt: totpSecrets.confirmed, required: sql<number>`${requiresTotp}`.as("required") })
      .from(accounts)
      .leftJoin(totpSecrets, eq(totpSecrets.accountId, accounts.id))
      .where(ownRow(ctx, accounts, id)),
    ctx.db
      .select({ left: count() })
      .from(recoveryCodes)
      .where(ofAccount(ctx, recoveryCodes, id)),
  ]);
  const confirmedAt = found?.confirmedAt ?? null;
  return { enabled: confirmedAt !== null, required: found?.required === 1, confirmedAt, recoveryCodes: codes?.left ?? 0 };
}

/** Creates a secret for the caller's authenticator app; a code must confirm it. Takes the password, so a stolen session isn't enough. */
export async function beginTotp(ctx: Ctx, password: string, address: string): Promise<{ secret: string; uri: string }> {
  const account = await ownAccount(ctx);
  await requirePassword(ctx, account, password, address, invalid("password", "The password is incorrect"));
  const secret = newTotpSecret();
  const pending = { secretSealed: await seal(ctx.env, PURPOSE, secret), created: ctx.now };
  const [started] = await ctx.db
    .insert(totpSecrets)
    .values({ ...pending, accountId: account.id, siteId: ctx.siteId, confirmed: null, lastStep: 0 })
    .onConflictDoUpdate({ target: totpSecrets.accountId, set: pending, setWhere: isNull(totpSecrets.confirmed) })
    .returning({ accountId: totpSecrets.accountId });
  if (!started) throw conflict("An authenticator app is already set up; disable it first");
  const [site] = await ctx.db.select({ name: sites.name }).from(sites).where(eq(sites.id, ctx.siteId));
  return { secret, uri: totpUri(secret, site?.name ?? "Tifo", account.email) };
}

/** Enables the caller's authenticator app with a first code, and ends all other sessions, which signed in without one. */
export async function confirmTotp(ctx: Ctx, code: string, address: string): Promise<{ recoveryCodes: string[] }> {
  const { sessionId } = await callerAccount(ctx);
  const { id, email } = await ownAccount(ctx);
  const pending = and(ofAccount(ctx, totpSecrets, id), isNull(totpSecrets.confirmed));
  const [row] = await ctx.db.select().from(totpSecrets).where(pending);
  if (!row) throw conflict("There is no secret to confirm; start the setup first");
  const attempt = await codeAttempt(ctx, { id, email }, address);
  const step = totpStep(await open(ctx.env, PURPOSE, row.secretSealed), code, ctx.now);
  if (step === undefined) throw invalid("code", "The code is incorrect");
  await attempt.refund();
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomCode(RECOVERY_LENGTH));
  const hashes = await Promise.all(codes.map(async (text) => ({ accountId: id, siteId: ctx.siteId, hash: await hashOf(id, text) })));
  const others = await planOtherSessionEnds(ctx, { accountId: id, sessionId }, "totpEnabled");
  const changes = [
    ctx.db
      .update(totpSecrets)
      .set({ confirmed: ctx.now, lastStep: step })
      .where(and(pending, eq(totpSecrets.secretSealed, row.secretSealed))),
    ctx.db.delete(recoveryCodes).where(ofAccount(ctx, recoveryCodes, id)),
    ctx.db.insert(recoveryCodes).values(hashes),
    others.change,
  ];
  await commitIfUnchanged(ctx, changes, totpEvent(ctx, "account.totpEnabled", id), ...others.events);
  return { recoveryCodes: codes.map((text) => text.match(/.{4}/g)?.join("-") ?? text) };
}

/** Disables the caller's authenticator app with one of its codes, a recovery code or the password. */
export async function disableTotp(ctx: Ctx, { code, password }: DisableTotp, address: string): Promise<void> {
  const account = await ownAccount(ctx);
  if (password !== undefined) {
    await requirePassword(ctx, account, password, address, invalid("password", "The password is incorrect"));
  } else {
    const secret = await enabledSecret(ctx, account.id);
    if (secret === undefined) throw conflict(NOT_ENABLED);
    const attempt = await codeAttempt(ctx, account, address);
    if (!(await consumeCode(ctx, account.id, secret, code ?? ""))) {
      attempt.recordFailure("code");
      throw invalid("code", "The code is incorrect or already used");
    }
    await attempt.refund();
  }
  await removeTotp(ctx, account.id);
}

/** Lets an admin remove the authenticator app of a person who has lost it. */
export async function resetTotp(ctx: Ctx, id: string): Promise<void> {
  const [account] = await ctx.db
    .select({ roles: accounts.roles })
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw notFound("Account not found");
  if (account.roles.length > 0) await requireCanGrantRoles(ctx);
  await removeTotp(ctx, id);
}

/** Requires the second factor after a correct password. */
export async function requireCode(
  ctx: Ctx,
  { id, secretSealed }: { id: string; secretSealed: string },
  code: string | undefined,
  attempt: SignInAttempt,
): Promise<void> {
  if (code === undefined) throw new Failure("totp_required");
  await attempt.takeForAccount("totp");
  if (!(await consumeCode(ctx, id, secretSealed, code))) {
    attempt.recordFailure("code");
    throw new Failure("totp_required", "The code is incorrect or already used");
  }
  await attempt.refund();
}

/** A 401 if the account has an authenticator app: a sign-in through a third party can't check our second factor. */
export async function rejectIfTotpEnabled(ctx: Ctx, accountId: string): Promise<void> {
  if ((await enabledSecret(ctx, accountId)) !== undefined) {
    throw new Failure("totp_required", "The account has an authenticator app: sign in with the password and a code");
  }
}

async function ownAccount(ctx: Ctx) {
  const { id } = await callerAccount(ctx);
  const [account] = await ctx.db
    .select({ id: accounts.id, email: accounts.email, passwordHash: accounts.passwordHash })
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw notFound("Account not found");
  return account;
}

async function codeAttempt(ctx: Ctx, account: { id: string; email: string }, address: string): Promise<SignInAttempt> {
  const attempt = await SignInAttempt.begin(ctx, account.email, address);
  await attempt.admit(account, await attempt.knownPlaces());
  await attempt.takeForAccount("totp");
  return attempt;
}

async function enabledSecret(ctx: Ctx, accountId: string): Promise<string | undefined> {
  const [row] = await ctx.db
    .select({ secretSealed: totpSecrets.secretSealed })
    .from(totpSecrets)
    .where(and(ofAccount(ctx, totpSecrets, accountId), isNotNull(totpSecrets.confirmed)));
  return row?.secretSealed;
}

/** Verifies a code and marks it as used: of concurrent requests with the same code, one succeeds. */
async function consumeCode(ctx: Ctx, accountId: string, secretSealed: string, code: string): Promise<boolean> {
  if (!/^\d{6}$/.test(code)) return consumeRecoveryCode(ctx, accountId, code);
  const step = totpStep(await open(ctx.env, PURPOSE, secretSealed), code, ctx.now);
  if (step === undefined) return false;
  const [consumed] = await ctx.db
    .update(totpSecrets)
    .set({ lastStep: step })
    .where(and(ofAccount(ctx, totpSecrets, accountId), eq(totpSecrets.secretSealed, secretSealed), lt(totpSecrets.lastStep, step)))
    .returning({ lastStep: totpSecrets.lastStep });
  return consumed !== undefined;
}

async function consumeRecoveryCode(ctx: Ctx, accountId: string, code: string): Promise<boolean> {
  const change = ctx.db
    .delete(recoveryCodes)
    .where(and(ofAccount(ctx, recoveryCodes, accountId), eq(recoveryCodes.hash, await hashOf(accountId, code))));
  return wonRace(() => commitIfUnchanged(ctx, change, totpEvent(ctx, "account.recoveryCodeUsed", accountId)));
}

async function removeTotp(ctx: Ctx, accountId: string): Promise<void> {
  const changes = [
    ctx.db.delete(totpSecrets).where(and(ofAccount(ctx, totpSecrets, accountId), isNotNull(totpSecrets.confirmed))),
    ctx.db.delete(recoveryCodes).where(ofAccount(ctx, recoveryCodes, accountId)),
  ];
  await replaceConflict(conflict(NOT_ENABLED), () => commitIfUnchanged(ctx, changes, totpEvent(ctx, "account.totpDisabled", accountId)));
}

function ofAccount(ctx: Ctx, table: typeof totpSecrets | typeof recoveryCodes, accountId: string) {
  return and(eq(table.siteId, ctx.siteId), eq(table.accountId, accountId));
}

/** Ignores case, spaces and hyphens. */
function hashOf(accountId: string, code: string): Promise<string> {
  return sha256(`${accountId}\n${code.toUpperCase().replace(/[^0-9A-Z]/g, "")}`);
}

type TotpEvent = "account.totpEnabled" | "account.totpDisabled" | "account.recoveryCodeUsed";

function totpEvent(ctx: Ctx, type: TotpEvent, accountId: string): NewEvent {
  return { type, resource: `account/${accountId}`, data: { _id: accountId, siteId: ctx.siteId } };
}
