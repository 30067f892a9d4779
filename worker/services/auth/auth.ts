import { and, eq, gt, inArray, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts, globalAccounts, type SessionRow, sessions, totpSecrets } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import { hashPassword, verifyPassword } from "#worker/lib/crypto/crypto.ts";
import { emailNotVerified, Failure, invalid, unauthenticated } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import { STAFF_PASSWORD_LENGTH } from "#worker/services/accounts/schemas.ts";
import type { Login, Tokens } from "./schemas.ts";
import { normalizeEmail } from "#worker/services/accounts/account-rows.ts";
import { endAllSessions, endSession, endStolenSession } from "./session-ends.ts";
import { batchAll, type Ctx } from "#worker/services/core/context.ts";
import { checkSite } from "./identity.ts";
import { ctxOf, dbOf } from "#worker/services/core/databases.ts";
import { SignInAttempt } from "./sign-in-attempts.ts";
import { GLOBAL_AUDIENCE, signToken } from "./tokens.ts";
import { requireCode } from "./totp.ts";

const SESSION_MS = 30 * 24 * 60 * 60 * 1000;
/** How long a refresh can be repeated with its Idempotency-Key. */
const REPLAY_MS = 30_000;
/** How long a used refresh token still returns the same next one: long enough for racing tabs, too short for a thief. */
const GRACE_MS = 10_000;
// Verified against if the account doesn't exist, so that both failures take equally long.
const DUMMY_HASH = "$scrypt$ln=14,r=8,p=5$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

interface Person {
  id: string;
  passwordHash: string | null;
  passwordVersion: number;
  /** The site requires verified addresses, and this one isn't verified. */
  mustVerify: boolean;
  /** The account has roles, which a global account always has. */
  isStaff: boolean;
  /** The sealed authenticator secret. */
  totp: string | null;
}

/**
 * Signs in with email and password, to the site `siteId` or, without it, to a global account. Attempts are counted before anything is
 * hashed, so that a flood is cheap and locks nobody else out.
 */
export async function login(ctx: Ctx, input: Login, address: string): Promise<Tokens> {
  const audience = input.siteId ?? GLOBAL_AUDIENCE;
  if (input.siteId !== undefined && ctx.siteId !== "" && ctx.siteId !== input.siteId) throw invalid("siteId", "Must equal Tifo-Client-Id");
  const email = normalizeEmail(input.email);
  // An unknown site id gets no counters of its own.
  const onSite = ctx.siteId === audience ? ctx : ctxOf(ctx, audience);
  const scope: Ctx = { ...onSite, siteId: (await isSite(onSite)) ? audience : GLOBAL_AUDIENCE };
  const attempt = await SignInAttempt.begin(scope, email, address);
  const person = await findPerson(scope, audience, email, attempt);
  const { valid, stale } = await verifyPassword(input.password, person?.passwordHash ?? DUMMY_HASH);
  if (!person || !valid) {
    attempt.recordFailure("password");
    throw unauthenticated("Wrong email or password");
  }
  await attempt.refund();
  // The length can't be read from the hash: this catches accounts that got roles after they chose their password.
  if (person.isStaff && input.password.length < STAFF_PASSWORD_LENGTH) throw new Failure("password_too_short");
  if (person.mustVerify) throw emailNotVerified();
  if (person.totp !== null) await requireCode(scope, { id: person.id, secretSealed: person.totp }, input.totp, attempt);
  return startSession(scope, person, attempt, stale ? await hashPassword(input.password) : undefined);
}

/**
 * Exchanges a refresh token for the next pair. Reuse ends the session, since the token may have been stolen. But tabs of one browser
 * refresh concurrently, and responses get lost: for `GRACE_MS`, the last used token returns the same next one again. A thief is detected
 * as soon as thief and owner refresh more than that apart.
 */
export async function refresh(ctx: Ctx, refreshToken: string): Promise<Tokens> {
  const invalidToken = unauthenticated("The refresh token is invalid, expired or already used");
  const token = await readRefreshToken(ctx.env, refreshToken);
  if (!token) throw invalidToken;
  // Older tokens don't name it; they are of sessions on the first shard, or of the site that is named.
  const own: Ctx = { ...ctx, db: dbOf(ctx, token.audience ?? ctx.siteId) };
  if (ctx.receipt !== undefined) return replayRefresh(own, token);
  const isLive = and(
    eq(sessions.id, token.sessionId),
    isNull(sessions.revoked),
    gt(sessions.expires, ctx.now),
    eq(sessions.passwordVersion, currentPasswordVersion),
    ctx.siteId === "" ? undefined : inArray(sessions.audience, [ctx.siteId, GLOBAL_AUDIENCE]),
  );
  const [next] = await own.db
    .update(sessions)
    .set({ generation: token.generation + 1, expires: ctx.now + SESSION_MS })
    .where(and(isLive, eq(sessions.generation, token.generation)))
    .returning();
  const session = next ?? (await rotatedWithin(own, token, GRACE_MS, isLive));
  if (session) {
    ctx.receipt = session.id;
    return issueTokens(ctx, session);
  }
  await endStolenSession(own, token);
  throw invalidToken;
}

/** Replays the request that used the token: for a limited time, and only until the tokens in its response are used. */
async function replayRefresh(ctx: Ctx, token: RefreshToken): Promise<Tokens> {
  const isLive = and(eq(sessions.id, token.sessionId), isNull(sessions.revoked), eq(sessions.passwordVersion, currentPasswordVersion));
  const session = await rotatedWithin(ctx, token, REPLAY_MS, isLive);
  if (!session)
    throw new Failure("idempotency_unanswered", "The tokens of the first response have been used, revoked or are older than 30 s");
  return issueTokens(ctx, session);
}

/** The session, if this was its last used token and it was used less than `ms` ago. */
async function rotatedWithin(ctx: Ctx, token: RefreshToken, ms: number, isLive: SQL | undefined): Promise<SessionRow | undefined> {
  // Each refresh extends the session to its full length, so `expires` tells when it was.
  const isRecent = gt(sessions.expires, ctx.now + SESSION_MS - ms);
  const [session] = await ctx.db
    .select()
    .from(sessions)
    .where(and(isLive, eq(sessions.generation, token.generation + 1), isRecent));
  return session;
}

/** Ends the session of the caller's token, or all of the caller's: their JWTs and refresh tokens stop working immediately. */
export async function logout(ctx: Ctx, everywhere = false): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" && actor.kind !== "global") return;
  const audience = actor.kind === "account" ? ctx.siteId : GLOBAL_AUDIENCE;
  if (everywhere) await endAllSessions(ctx, { accountId: actor.id, audience }, "signedOut");
  else await endSession(ctx, { id: actor.sessionId, accountId: actor.id, audience }, "signedOut");
}

/** Starts a session on `ctx.siteId` for an authenticated person. */
async function startSession(ctx: Ctx, person: Person, attempt: SignInAttempt, rehashed?: string): Promise<Tokens> {
  const { insert, tokens } = await newSession(ctx, ctx.siteId, person);
  const statements: BatchItem<"sqlite">[] = [insert, attempt.remember(person)];
  if (ctx.siteId !== GLOBAL_AUDIENCE) {
    // Don't overwrite a password set in the meantime, which has also ended this session.
    const isUnchanged = and(eq(accounts.id, person.id), eq(accounts.passwordVersion, person.passwordVersion));
    statements.push(ctx.db.update(accounts).set({ lastLogin: ctx.now, passwordHash: rehashed }).where(isUnchanged));
  }
  await batchAll(ctx.db, statements);
  return tokens;
}

/** A new session; `tokens` become valid once `insert` is committed. */
export async function newSession(
  ctx: Ctx,
  audience: string,
  person: Pick<Person, "id" | "passwordVersion">,
): Promise<{ insert: BatchItem<"sqlite">; tokens: Tokens }> {
  const session: SessionRow = {
    id: newId(ctx.now),
    audience,
    accountId: person.id,
    passwordVersion: person.passwordVersion,
    generation: 1,
    created: ctx.now,
    expires: ctx.now + SESSION_MS,
    revoked: null,
  };
  return { insert: ctx.db.insert(sessions).values(session), tokens: await issueTokens(ctx, session) };
}

/** Deletes sessions a day after they expire. */
export async function pruneSessions(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(sessions).where(lt(sessions.expires, ctx.now - 24 * 60 * 60 * 1000));
}

/** Whether the site exists; sites that this isolate has already seen need no query. */
async function isSite({ db, siteId: audience }: Ctx): Promise<boolean> {
  if (audience === GLOBAL_AUDIENCE) return false;
  const check = checkSite(audience);
  if (!check.query) return true;
  const [site] = await db.select({ id: sites.id }).from(sites).where(eq(sites.id, audience));
  if (site) check.confirm([site.id]);
  return site !== undefined;
}

/** Reads the account or global account of an address, and its known places for the attempt, in one round trip. */
async function findPerson(ctx: Ctx, audience: string, email: string, attempt: SignInAttempt): Promise<Person | undefined> {
  const find = audience === GLOBAL_AUDIENCE ? findGlobal(ctx, email) : findOnSite(ctx, audience, email);
  const [[person], known] = await ctx.db.batch([find, attempt.knownPlaces()]);
  await attempt.admit(person, known);
  return person && { ...person, isStaff: person.isStaff === 1, mustVerify: person.mustVerify === 1 };
}

function findOnSite(ctx: Ctx, siteId: string, email: string) {
  return ctx.db
    .select({
      id: accounts.id,
      passwordHash: accounts.passwordHash,
      passwordVersion: accounts.passwordVersion,
      isStaff: sql<number>`json_array_length(${accounts.roles}) > 0`.as("is_staff"),
      mustVerify: sql<number>`${accounts.emailVerified} is null
        and coalesce(json_extract(${sites.settings}, '$.security.requireVerifiedEmail'), 0)`.as("must_verify"),
      totp: totpSecrets.secretSealed,
    })
    .from(accounts)
    .innerJoin(sites, eq(sites.id, accounts.siteId))
    .leftJoin(totpSecrets, and(eq(totpSecrets.accountId, accounts.id), isNotNull(totpSecrets.confirmed)))
    .where(and(eq(accounts.siteId, siteId), eq(accounts.email, email)));
}

function findGlobal(ctx: Ctx, email: string) {
  return ctx.db
    .select({
      id: globalAccounts.id,
      passwordHash: globalAccounts.passwordHash,
      passwordVersion: globalAccounts.passwordVersion,
      isStaff: sql<number>`1`.as("is_staff"),
      mustVerify: sql<number>`0`.as("must_verify"),
      totp: sql<string | null>`null`.as("totp"),
    })
    .from(globalAccounts)
    .where(eq(globalAccounts.email, email));
}

// The current password version of a session's account or global account.
const currentPasswordVersion = sql`case ${sessions.audience} when ${GLOBAL_AUDIENCE}
  then (select g.password_version from ${globalAccounts} g where g.id = ${sessions.accountId})
  else (select a.password_version from ${accounts} a where a.id = ${sessions.accountId}) end`;

async function issueTokens(ctx: Ctx, session: SessionRow): Promise<Tokens> {
  const { id: sessionId, accountId, audience, passwordVersion } = session;
  return {
    jwt: await signToken(ctx.env, { accountId, audience, sessionId, passwordVersion }, ctx.now),
    refreshToken: await writeRefreshToken(ctx.env, session),
    service: "auth-service-v2",
  };
}

const PURPOSE = "refresh";

/** A refresh token is the session's id, generation and audience, signed, so that none needs to be stored. */
function writeRefreshToken(env: Env, { id, generation, audience }: SessionRow): Promise<string> {
  return signContent(env, PURPOSE, `${id}.${generation}.${audience}`);
}

interface RefreshToken {
  sessionId: string;
  generation: number;
  audience: string | undefined;
}

async function readRefreshToken(env: Env, token: string): Promise<RefreshToken | undefined> {
  const [sessionId, generation, audience] = (await readSigned(env, PURPOSE, token))?.split(".") ?? [];
  return sessionId === undefined ? undefined : { sessionId, generation: Number(generation), audience };
}
