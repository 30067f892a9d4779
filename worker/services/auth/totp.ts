import { and, count, eq, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { accounts, recoveryCodes, sites, totpSecrets } from "#db/schema/index.ts";
import { randomCode } from "#worker/lib/crypto/codes.ts";
import { open, seal, sha256 } from "#worker/lib/crypto/crypto.ts";
import { wonRace, conflict, Failure, invalid, notFound, refuseSecond } from "#worker/lib/errors.ts";
import { newTotpSecret, totpStep, totpUri } from "#worker/lib/crypto/totp.ts";
import type { DisableTotp, Totp } from "./schemas.ts";
import { callerAccount, commitIfUnchanged, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { planOtherEnds } from "./session-ends.ts";
import { requireRoleKey, requiresTotp } from "#worker/services/accounts/role-rules.ts";
import { requirePassword, SignInAttempt } from "./sign-in-attempts.ts";

const PURPOSE = "totp secret";
const RECOVERY_CODES = 10;
/** Of 32 characters each: 80 bits. */
const RECOVERY_LENGTH = 16;
const NOT_ENABLED = "No authenticator app is set up";

/** Whether the caller's account has an authenticator app. */
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

/** Makes a secret for the caller's authenticator app, which counts once a code confirms it. A stolen session alone doesn't do. */
export async function beginTotp(ctx: Ctx, password: string, address: string): Promise<{ secret: string; uri: string }> {
  const account = await ownAccount(ctx);
  await requirePassword(ctx, account, password, address, invalid("password", "The password is wrong"));
  const secret = newTotpSecret();
  const pending = { secretSealed: await seal(ctx.env, PURPOSE, secret), created: ctx.now };
  const [begun] = await ctx.db
    .insert(totpSecrets)
    .values({ ...pending, accountId: account.id, siteId: ctx.siteId, confirmed: null, lastStep: 0 })
    .onConflictDoUpdate({ target: totpSecrets.accountId, set: pending, setWhere: isNull(totpSecrets.confirmed) })
    .returning({ accountId: totpSecrets.accountId });
  if (!begun) throw conflict("An authenticator app is set up already; disable it first");
  const [site] = await ctx.db.select({ name: sites.name }).from(sites).where(eq(sites.id, ctx.siteId));
  return { secret, uri: totpUri(secret, site?.name ?? "Tifo", account.email) };
}

/** Enables the caller's authenticator app by a first code, and ends all other sessions, which signed in without one. */
export async function confirmTotp(ctx: Ctx, code: string, address: string): Promise<{ recoveryCodes: string[] }> {
  const { sessionId } = await callerAccount(ctx);
  const { id, email } = await ownAccount(ctx);
  const pending = and(ofAccount(ctx, totpSecrets, id), isNull(totpSecrets.confirmed));
  const [row] = await ctx.db.select().from(totpSecrets).where(pending);
  if (!row) throw conflict("There is no secret to confirm; begin first");
  const attempt = await codeAttempt(ctx, { id, email }, address);
  const step = totpStep(await open(ctx.env, PURPOSE, row.secretSealed), code, ctx.now);
  if (step === undefined) throw invalid("code", "The code is wrong");
  await attempt.giveBack();
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomCode(RECOVERY_LENGTH));
  const hashes = await Promise.all(codes.map(async (text) => ({ accountId: id, siteId: ctx.siteId, hash: await hashOf(id, text) })));
  const others = await planOtherEnds(ctx, { accountId: id, sessionId }, "totpEnabled");
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

/** Disables the caller's authenticator app, by a code of it, a recovery code or the password. */
export async function disableTotp(ctx: Ctx, { code, password }: DisableTotp, address: string): Promise<void> {
  const account = await ownAccount(ctx);
  if (password !== undefined) {
    await requirePassword(ctx, account, password, address, invalid("password", "The password is wrong"));
  } else {
    const secret = await enabledSecret(ctx, account.id);
    if (secret === undefined) throw conflict(NOT_ENABLED);
    const attempt = await codeAttempt(ctx, account, address);
    if (!(await spendCode(ctx, account.id, secret, code ?? ""))) {
      attempt.noteFailure("code");
      throw invalid("code", "The code is wrong or has been used");
    }
    await attempt.giveBack();
  }
  await removeTotp(ctx, account.id);
}

/** Takes the authenticator app from somebody who has lost it, for an admin. */
export async function resetTotp(ctx: Ctx, id: string): Promise<void> {
  const [account] = await ctx.db
    .select({ roles: accounts.roles })
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw notFound("Account not found");
  if (account.roles.length > 0) await requireRoleKey(ctx);
  await removeTotp(ctx, id);
}

/** Asks for the second factor at a sign-in whose password was right. */
export async function requireCode(
  ctx: Ctx,
  { id, secretSealed }: { id: string; secretSealed: string },
  code: string | undefined,
  attempt: SignInAttempt,
): Promise<void> {
  if (code === undefined) throw new Failure("totp_required");
  await attempt.takeOfAccount("totp");
  if (!(await spendCode(ctx, id, secretSealed, code))) {
    attempt.noteFailure("code");
    throw new Failure("totp_required", "The code is wrong or has been used");
  }
  await attempt.giveBack();
}

/** A sign-in that somebody else vouches for has no second factor of ours: 401 where the account asks for one. */
export async function refuseWithTotp(ctx: Ctx, accountId: string): Promise<void> {
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
  await attempt.takeOfAccount("totp");
  return attempt;
}

async function enabledSecret(ctx: Ctx, accountId: string): Promise<string | undefined> {
  const [row] = await ctx.db
    .select({ secretSealed: totpSecrets.secretSealed })
    .from(totpSecrets)
    .where(and(ofAccount(ctx, totpSecrets, accountId), isNotNull(totpSecrets.confirmed)));
  return row?.secretSealed;
}

/** Whether the code is right, and uses it up: of several requests with one code, one succeeds. */
async function spendCode(ctx: Ctx, accountId: string, secretSealed: string, code: string): Promise<boolean> {
  if (!/^\d{6}$/.test(code)) return spendRecoveryCode(ctx, accountId, code);
  const step = totpStep(await open(ctx.env, PURPOSE, secretSealed), code, ctx.now);
  if (step === undefined) return false;
  const [spent] = await ctx.db
    .update(totpSecrets)
    .set({ lastStep: step })
    .where(and(ofAccount(ctx, totpSecrets, accountId), eq(totpSecrets.secretSealed, secretSealed), lt(totpSecrets.lastStep, step)))
    .returning({ lastStep: totpSecrets.lastStep });
  return spent !== undefined;
}

async function spendRecoveryCode(ctx: Ctx, accountId: string, code: string): Promise<boolean> {
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
  await refuseSecond(conflict(NOT_ENABLED), () => commitIfUnchanged(ctx, changes, totpEvent(ctx, "account.totpDisabled", accountId)));
}

function ofAccount(ctx: Ctx, table: typeof totpSecrets | typeof recoveryCodes, accountId: string) {
  return and(eq(table.siteId, ctx.siteId), eq(table.accountId, accountId));
}

/** However it is typed. */
function hashOf(accountId: string, code: string): Promise<string> {
  return sha256(`${accountId}\n${code.toUpperCase().replace(/[^0-9A-Z]/g, "")}`);
}

function totpEvent(ctx: Ctx, type: string, accountId: string): NewEvent {
  return { type, resource: `account/${accountId}`, data: { _id: accountId, siteId: ctx.siteId } };
}
