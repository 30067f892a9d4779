import { and, eq, getTableColumns, gt, isNull, lt, sql } from "drizzle-orm";
import { accounts, sessions } from "#db/schema/accounts.ts";
import { type TvCodeRow, tvCodes } from "#db/schema/commerce/access-codes.ts";
import { normalizeCode, randomCode } from "#worker/lib/crypto/codes.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { Failure, wonRace, notFound, replaceConflict } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { TV_CODE_LENGTH, type TvStatus } from "./schemas.ts";
import { newSession } from "#worker/services/auth/auth.ts";
import { callerAccount, commit, commitIfUnchanged, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { findWithin, guessBudgets } from "#worker/services/core/limits.ts";

const LIFETIME_MS = 10 * 60 * 1000;
/** The poll interval sent to the device; the server accepts polls half a second early, because networks jitter. */
const INTERVAL_SECONDS = 5;
const MIN_POLL_GAP_MS = INTERVAL_SECONDS * 1000 - 500;
const RETENTION_MS = 60 * 60 * 1000;

/** A TV code with the account's current password version. */
type DeviceCode = TvCodeRow & { currentVersion: number | null };

/** Creates a code for a device to show; the viewer enters it where they are signed in (the flow of RFC 8628). */
export async function createTvCode(ctx: Ctx, deviceId: string): Promise<{ code: string; expiresAt: number; interval: number }> {
  return withErrorMessage("Error generating TV code", async () => {
    const code = randomCode(TV_CODE_LENGTH);
    const row: TvCodeRow = {
      id: newId(ctx.now),
      siteId: ctx.siteId,
      hash: await hashOf(ctx, code),
      deviceHash: await hashOf(ctx, deviceId),
      accountId: null,
      passwordVersion: null,
      polledAt: null,
      takenAt: null,
      created: ctx.now,
      expires: ctx.now + LIFETIME_MS,
    };
    await commit(ctx, ctx.db.insert(tvCodes).values(row));
    return { code, expiresAt: row.expires, interval: INTERVAL_SECONDS };
  });
}

/** Lets the device that shows this code sign in as the caller; false if there is no such code waiting. */
export async function activateTvCode(ctx: Ctx, code: string, address: string): Promise<boolean> {
  const { id: accountId, sessionId } = await callerAccount(ctx);
  return withErrorMessage("Error activating TV code", async () => {
    const hash = await hashOf(ctx, code);
    const waiting = and(eq(tvCodes.siteId, ctx.siteId), eq(tvCodes.hash, hash), isNull(tvCodes.accountId), gt(tvCodes.expires, ctx.now));
    const budgets = guessBudgets(accountId, address, "guessTvCode");
    const row = await findWithin(ctx, budgets, async () => (await ctx.db.select().from(tvCodes).where(waiting))[0]);
    if (!row) return false;
    const event: NewEvent<"accesscode.tvActivated"> = {
      type: "accesscode.tvActivated",
      resource: `tv/${row.id}`,
      data: { siteId: ctx.siteId, accountId },
    };
    // The session's password version, not the account's: the session may have ended since it was checked.
    const passwordVersion = sql`(select s.password_version from ${sessions} s where s.id = ${sessionId})`;
    return wonRace(() => commitIfUnchanged(ctx, ctx.db.update(tvCodes).set({ accountId, passwordVersion }).where(waiting), event));
  });
}

/** The status of a device's code; the tokens are returned exactly once. A guesser would need both code and device id. */
export async function pollTvCode(ctx: Ctx, typed: string, address: string): Promise<TvStatus> {
  const row = await findWithin(ctx, { own: [{ name: "miss", key: address }] }, () => findForDevice(ctx, normalizeCode(typed)));
  if (!row) throw notFound("No such code for this device");
  if (row.takenAt !== null || row.expires <= ctx.now) return { status: "expired" };
  if (row.polledAt !== null && row.polledAt > ctx.now - MIN_POLL_GAP_MS) throw slowDown();
  if (row.accountId !== null) return takeTokens(ctx, row, row.accountId);
  await ctx.db
    .update(tvCodes)
    .set({ polledAt: ctx.now })
    .where(ownRow(ctx, tvCodes, row.id));
  return { status: "pending" };
}

/** Signs the device in as the account; of two concurrent polls, one gets the tokens and the other is asked to slow down. */
async function takeTokens(ctx: Ctx, row: DeviceCode, id: string): Promise<TvStatus> {
  const { id: codeId, passwordVersion, currentVersion } = row;
  // The account was deleted after activation, or its password changed, which ended its sessions.
  if (passwordVersion === null || passwordVersion !== currentVersion) return { status: "expired" };
  const { insert, tokens } = await newSession(ctx, ctx.siteId, { id, passwordVersion });
  const tokensTaken = ctx.db
    .update(tvCodes)
    .set({ takenAt: ctx.now, polledAt: ctx.now })
    .where(and(ownRow(ctx, tvCodes, codeId), isNull(tvCodes.takenAt)));
  const signedIn = ctx.db
    .update(accounts)
    .set({ lastLogin: ctx.now })
    .where(ownRow(ctx, accounts, id));
  const event: NewEvent<"accesscode.tvSignedIn"> = {
    type: "accesscode.tvSignedIn",
    resource: `tv/${codeId}`,
    data: { siteId: ctx.siteId, accountId: id },
  };
  await replaceConflict(slowDown(), () => commitIfUnchanged(ctx, [tokensTaken, insert, signedIn], event));
  return { status: "activated", jwt: tokens.jwt, refreshToken: tokens.refreshToken };
}

/** Deletes codes an hour after they expire. */
export async function pruneTvCodes(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(tvCodes).where(lt(tvCodes.expires, ctx.now - RETENTION_MS));
}

async function findForDevice(ctx: Ctx, code: string): Promise<DeviceCode | undefined> {
  const [found] = await ctx.db
    .select({ ...getTableColumns(tvCodes), currentVersion: sql<number | null>`${accounts.passwordVersion}`.as("current_version") })
    .from(tvCodes)
    .leftJoin(accounts, and(eq(accounts.id, tvCodes.accountId), eq(accounts.siteId, tvCodes.siteId)))
    .where(
      and(
        eq(tvCodes.siteId, ctx.siteId),
        eq(tvCodes.hash, await hashOf(ctx, code)),
        eq(tvCodes.deviceHash, await hashOf(ctx, ctx.deviceId ?? "")),
      ),
    );
  return found;
}

function hashOf(ctx: Ctx, secret: string): Promise<string> {
  return sha256(`${ctx.siteId}\n${secret}`);
}

function slowDown(): Failure {
  return new Failure("slow_down", `Wait ${INTERVAL_SECONDS} seconds between polls`, {
    headers: { "Retry-After": String(INTERVAL_SECONDS) },
  });
}

/** Turns an unexpected error into an internal one with a public message. */
async function withErrorMessage<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Failure ? error : new Failure("internal", message, { cause: error });
  }
}
