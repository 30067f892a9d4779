import { and, eq, gt, isNull, lt, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts, globalAccounts, sessions, sites } from "../../db/schema/index.ts";
import { hashPassword, sha256, verifyPassword } from "../lib/crypto.ts";
import { invalid, unauthenticated } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { readSigned, signContent } from "../lib/signed.ts";
import type { Login, Tokens } from "../routes/auth/schemas.ts";
import { normalizeEmail } from "./accounts.ts";
import { batchAll, type Ctx } from "./context.ts";
import { giveBackSlot, takeSlot } from "./limits.ts";
import { GLOBAL_AUDIENCE, signToken } from "./tokens.ts";

const SESSION_MS = 30 * 24 * 60 * 60 * 1000;
// Compared with when no such account exists, so that both refusals take as long.
const NOBODY = "$scrypt$ln=14,r=8,p=5$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

type SessionRow = typeof sessions.$inferSelect;

interface Person {
  id: string;
  passwordHash: string | null;
  passwordVersion: number;
}

/**
 * Signs in with e-mail and password, to the site of `siteId` or, without one, a global account.
 * Wrong ones are counted per account and address before anything is hashed, so a flood costs little and locks nobody else out.
 */
export async function login(ctx: Ctx, input: Login, address: string): Promise<Tokens> {
  const audience = input.siteId ?? GLOBAL_AUDIENCE;
  if (input.siteId !== undefined && ctx.siteId !== "" && ctx.siteId !== input.siteId) throw invalid("siteId", "Must equal Tifo-Client-Id");
  const scope: Ctx = { ...ctx, siteId: audience };
  const email = normalizeEmail(input.email);
  const slot = await signInSlot(email, address);
  await takeSlot(scope, "signIn", slot);
  const person = audience === GLOBAL_AUDIENCE ? await findGlobal(ctx, email) : await findOnSite(ctx, audience, email);
  const { valid, stale } = await verifyPassword(input.password, person?.passwordHash ?? NOBODY);
  if (!person || !valid) throw unauthenticated("Wrong e-mail or password");
  await giveBackSlot(scope, "signIn", slot);
  return startSession(ctx, audience, person, stale ? await hashPassword(input.password) : undefined);
}

/** Trades a refresh token for the next pair. One that was traded before ends the session: it may have been stolen. */
export async function refresh(ctx: Ctx, refreshToken: string): Promise<Tokens> {
  const refused = unauthenticated("The refresh token is used up, expired or not one of ours");
  const token = await readRefreshToken(ctx.env, refreshToken);
  if (!token) throw refused;
  const [session] = await ctx.db
    .update(sessions)
    .set({ generation: token.generation + 1, expires: ctx.now + SESSION_MS })
    .where(
      and(
        eq(sessions.id, token.sessionId),
        eq(sessions.generation, token.generation),
        isNull(sessions.revoked),
        gt(sessions.expires, ctx.now),
        eq(sessions.passwordVersion, currentPasswordVersion),
      ),
    )
    .returning();
  if (session) return pairOf(ctx, session);
  await ctx.db
    .update(sessions)
    .set({ revoked: ctx.now })
    .where(and(eq(sessions.id, token.sessionId), gt(sessions.generation, token.generation), isNull(sessions.revoked)));
  throw refused;
}

/** Ends the session of the caller's token: its JWT and its refresh tokens stop working at once. */
export async function logout(ctx: Ctx): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" && actor.kind !== "global") return;
  await ctx.db.update(sessions).set({ revoked: ctx.now }).where(eq(sessions.id, actor.sessionId));
}

/** Signs in a person who has proved to be themselves. */
async function startSession(ctx: Ctx, audience: string, person: Person, rehashed?: string): Promise<Tokens> {
  const { insert, tokens } = await newSession(ctx, audience, person);
  const statements: BatchItem<"sqlite">[] = [insert];
  if (audience !== GLOBAL_AUDIENCE) {
    statements.push(ctx.db.update(accounts).set({ lastLogin: ctx.now, passwordHash: rehashed }).where(eq(accounts.id, person.id)));
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

async function findOnSite(ctx: Ctx, siteId: string, email: string): Promise<Person | undefined> {
  const [found] = await ctx.db
    .select({ id: accounts.id, passwordHash: accounts.passwordHash, passwordVersion: accounts.passwordVersion })
    .from(accounts)
    .innerJoin(sites, eq(sites.id, accounts.siteId))
    .where(and(eq(accounts.siteId, siteId), eq(accounts.email, email)));
  return found;
}

async function findGlobal(ctx: Ctx, email: string): Promise<Person | undefined> {
  const [found] = await ctx.db
    .select({ id: globalAccounts.id, passwordHash: globalAccounts.passwordHash, passwordVersion: globalAccounts.passwordVersion })
    .from(globalAccounts)
    .where(eq(globalAccounts.email, email));
  return found;
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

async function readRefreshToken(env: Env, token: string): Promise<{ sessionId: string; generation: number } | undefined> {
  const [sessionId, generation] = (await readSigned(env, PURPOSE, token))?.split(".") ?? [];
  return sessionId === undefined ? undefined : { sessionId, generation: Number(generation) };
}

/** What wrong passwords are counted under: the account and the address, so that nobody locks the owner out. */
export function signInSlot(email: string, address: string): Promise<string> {
  return sha256(`${email}\n${address}`);
}
