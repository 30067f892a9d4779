import { and, eq, gt, inArray, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts, globalAccounts, type SessionRow, sessions, sites, totpSecrets } from "#db/schema/index.ts";
import { hashPassword, verifyPassword } from "#worker/lib/crypto/crypto.ts";
import { emailNotVerified, Failure, invalid, unauthenticated } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import { STAFF_PASSWORD_LENGTH } from "#worker/services/accounts/schemas.ts";
import type { Login, Tokens } from "./schemas.ts";
import { normalizeEmail } from "#worker/services/accounts/account-rows.ts";
import { endSession, endStolenSession } from "./session-ends.ts";
import { batchAll, type Ctx } from "#worker/services/core/context.ts";
import { checkSite } from "./identity.ts";
import { SignInAttempt } from "./sign-in-attempts.ts";
import { GLOBAL_AUDIENCE, signToken } from "./tokens.ts";
import { requireCode } from "./totp.ts";

const SESSION_MS = 30 * 24 * 60 * 60 * 1000;
/** How long a refresh may be repeated under its Idempotency-Key. */
const REPEAT_MS = 30_000;
/** How long a refresh token that was traded brings the same next one: longer than tabs that race, shorter than a thief waits. */
const GRACE_MS = 10_000;
// Compared with when no such account exists, so that both refusals take as long.
const NOBODY = "$scrypt$ln=14,r=8,p=5$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

interface Person {
  id: string;
  passwordHash: string | null;
  passwordVersion: number;
  /** Whether the site takes only verified addresses, and this one isn't. */
  mustVerify: boolean;
  /** Whether it has roles; a global account administers by its nature. */
  isStaff: boolean;
  /** The sealed secret of its authenticator app. */
  totp: string | null;
}

/**
 * Signs in with e-mail and password, to the site of `siteId` or, without one, a global account. Attempts are counted before anything is
 * hashed: a flood costs little and locks nobody else out.
 */
export async function login(ctx: Ctx, input: Login, address: string): Promise<Tokens> {
  const audience = input.siteId ?? GLOBAL_AUDIENCE;
  if (input.siteId !== undefined && ctx.siteId !== "" && ctx.siteId !== input.siteId) throw invalid("siteId", "Must equal Tifo-Client-Id");
  const email = normalizeEmail(input.email);
  // What somebody calls a site gets no counters of its own unless it is one.
  const scope: Ctx = { ...ctx, siteId: (await isSite(ctx, audience)) ? audience : GLOBAL_AUDIENCE };
  const attempt = await SignInAttempt.begin(scope, email, address);
  const person = await findPerson(ctx, audience, email, attempt);
  const { valid, stale } = await verifyPassword(input.password, person?.passwordHash ?? NOBODY);
  if (!person || !valid) {
    attempt.noteFailure("password");
    throw unauthenticated("Wrong e-mail or password");
  }
  await attempt.giveBack();
  // It can't be seen from a hash, so an account that was given roles later is stopped here.
  if (person.isStaff && input.password.length < STAFF_PASSWORD_LENGTH) throw new Failure("password_too_short");
  if (person.mustVerify) throw emailNotVerified();
  if (person.totp !== null) await requireCode(scope, { id: person.id, secretSealed: person.totp }, input.totp, attempt);
  return startSession(scope, person, attempt, stale ? await hashPassword(input.password) : undefined);
}

/**
 * Trades a refresh token for the next pair. One that was traded before ends the session: it may have been stolen. But tabs of one browser
 * refresh at the same moment, and responses get lost: for a moment the one that was traded last brings the same next token once more.
 * Two who hold one token are told apart as soon as they don't refresh within that moment of each other.
 */
export async function refresh(ctx: Ctx, refreshToken: string): Promise<Tokens> {
  const refused = unauthenticated("The refresh token is used up, expired or not one of ours");
  const token = await readRefreshToken(ctx.env, refreshToken);
  if (!token) throw refused;
  if (ctx.receipt !== undefined) return refreshAgain(ctx, token);
  const isLive = and(
    eq(sessions.id, token.sessionId),
    isNull(sessions.revoked),
    gt(sessions.expires, ctx.now),
    eq(sessions.passwordVersion, currentPasswordVersion),
    ctx.siteId === "" ? undefined : inArray(sessions.audience, [ctx.siteId, GLOBAL_AUDIENCE]),
  );
  const [next] = await ctx.db
    .update(sessions)
    .set({ generation: token.generation + 1, expires: ctx.now + SESSION_MS })
    .where(and(isLive, eq(sessions.generation, token.generation)))
    .returning();
  const session = next ?? (await tradedWithin(ctx, token, GRACE_MS, isLive));
  if (session) {
    ctx.receipt = session.id;
    return pairOf(ctx, session);
  }
  await endStolenSession(ctx, token);
  throw refused;
}

/** A repeat of the request that traded the token: only as long as its response may be missed, and only while nobody has used what it held. */
async function refreshAgain(ctx: Ctx, token: RefreshToken): Promise<Tokens> {
  const isLive = and(eq(sessions.id, token.sessionId), isNull(sessions.revoked), eq(sessions.passwordVersion, currentPasswordVersion));
  const session = await tradedWithin(ctx, token, REPEAT_MS, isLive);
  if (!session) throw new Failure("idempotency_unanswered", "The tokens of the first answer are used, ended or older than 30 s");
  return pairOf(ctx, session);
}

/** The session, if this token was the last that it traded, and that less than `ms` ago. */
async function tradedWithin(ctx: Ctx, token: RefreshToken, ms: number, isLive: SQL | undefined): Promise<SessionRow | undefined> {
  // Each refresh puts the end off by the whole length.
  const isRecent = gt(sessions.expires, ctx.now + SESSION_MS - ms);
  const [session] = await ctx.db
    .select()
    .from(sessions)
    .where(and(isLive, eq(sessions.generation, token.generation + 1), isRecent));
  return session;
}

/** Ends the session of the caller's token: its JWT and its refresh tokens stop working at once. */
export async function logout(ctx: Ctx): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" && actor.kind !== "global") return;
  const audience = actor.kind === "account" ? ctx.siteId : GLOBAL_AUDIENCE;
  await endSession(ctx, { id: actor.sessionId, accountId: actor.id, audience }, "signedOut");
}

/** Signs in a person who has proved to be themselves, to `ctx.siteId`. */
async function startSession(ctx: Ctx, person: Person, attempt: SignInAttempt, rehashed?: string): Promise<Tokens> {
  const { insert, tokens } = await newSession(ctx, ctx.siteId, person);
  const statements: BatchItem<"sqlite">[] = [insert, attempt.remember(person)];
  if (ctx.siteId !== GLOBAL_AUDIENCE) {
    // A password that came meanwhile stays, and has ended this session.
    const asVerified = and(eq(accounts.id, person.id), eq(accounts.passwordVersion, person.passwordVersion));
    statements.push(ctx.db.update(accounts).set({ lastLogin: ctx.now, passwordHash: rehashed }).where(asVerified));
  }
  await batchAll(ctx.db, statements);
  return tokens;
}

/** A session to be: `insert` goes into the batch of what it follows from, and makes `tokens` good. */
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
  return { insert: ctx.db.insert(sessions).values(session), tokens: await pairOf(ctx, session) };
}

/** Deletes sessions that have expired, a day later. */
export async function pruneSessions(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(sessions).where(lt(sessions.expires, ctx.now - 24 * 60 * 60 * 1000));
}

/** Whether there is such a site; only one that this isolate hasn't seen yet is looked for. */
async function isSite(ctx: Ctx, audience: string): Promise<boolean> {
  if (audience === GLOBAL_AUDIENCE) return false;
  const check = checkSite(audience);
  if (!check.query) return true;
  const [site] = await ctx.db.select({ id: sites.id }).from(sites).where(eq(sites.id, audience));
  if (site) check.confirm([site.id]);
  return site !== undefined;
}

/** The account or global account of an e-mail, with what the attempt needs to know of it, in one round trip. */
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

// Of the account or global account that a session belongs to.
const currentPasswordVersion = sql`case ${sessions.audience} when ${GLOBAL_AUDIENCE}
  then (select g.password_version from ${globalAccounts} g where g.id = ${sessions.accountId})
  else (select a.password_version from ${accounts} a where a.id = ${sessions.accountId}) end`;

async function pairOf(ctx: Ctx, session: SessionRow): Promise<Tokens> {
  const { id: sessionId, accountId, audience, passwordVersion, generation } = session;
  return {
    jwt: await signToken(ctx.env, { accountId, audience, sessionId, passwordVersion }, ctx.now),
    refreshToken: await writeRefreshToken(ctx.env, sessionId, generation),
    service: "auth-service-v2",
  };
}

const PURPOSE = "refresh";

/** A refresh token: session, generation, and our signature over both; so none needs to be stored. */
function writeRefreshToken(env: Env, sessionId: string, generation: number): Promise<string> {
  return signContent(env, PURPOSE, `${sessionId}.${generation}`);
}

interface RefreshToken {
  sessionId: string;
  generation: number;
}

async function readRefreshToken(env: Env, token: string): Promise<RefreshToken | undefined> {
  const [sessionId, generation] = (await readSigned(env, PURPOSE, token))?.split(".") ?? [];
  return sessionId === undefined ? undefined : { sessionId, generation: Number(generation) };
}
