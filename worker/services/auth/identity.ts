import { and, eq, gt, inArray, or, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { createDb, type D1Usage, type DbGuard } from "#db/client.ts";
import { prepared } from "#db/prepared.ts";
import { ROLE_SCOPES } from "#db/enums.ts";
import { accounts, apiKeys, globalAccounts, sessions, sites, streamProviders } from "#db/schema/index.ts";
import { equalInConstantTime, lookUpHashes, sha256 } from "#worker/lib/crypto/crypto.ts";
import { forbidden, unauthenticated } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import type { Actor } from "#worker/services/core/context.ts";
import { countingRoles } from "#worker/services/accounts/role-rules.ts";
import { PROVIDER_PURPOSE } from "#worker/services/stream-providers/stream-providers.ts";
import { GLOBAL_AUDIENCE, verifyToken } from "./tokens.ts";

/** One statement of one row that proves who calls, and what the row means; a 401 or 403 is thrown when it doesn't. */
export interface IdentityCheck {
  query?: { sql: string; params: unknown[] };
  /** The account of the token: not confirmed, but what is read for it comes out only if it is. */
  accountId?: string;
  confirm(row: unknown[] | undefined): Actor;
}

// Sites are never deleted, so one that was seen may be remembered for as long as the isolate lives.
const knownSites = new Set<string>();

// The keys of hidden columns that a check selects are raw text; these read them.
const Roles = z.array(z.object({ scope: z.enum(ROLE_SCOPES), pageId: z.array(z.string()), write: z.boolean() }));
const Strings = z.array(z.string());

// Every request has one of these checks, so each is compiled once.
const siteById = prepared((db) =>
  db
    .select({ id: sites.id })
    .from(sites)
    .where(eq(sites.id, sql.placeholder("siteId"))),
);

const keyByHash = prepared((db) =>
  db
    .select({
      id: apiKeys.id,
      roles: apiKeys.roles,
      expires: apiKeys.expires,
      origins: sql`json_extract(${sites.settings}, '$.security.allowedOrigins')`.as("origins"),
    })
    .from(apiKeys)
    .innerJoin(sites, eq(sites.id, apiKeys.siteId))
    .where(
      and(
        // After a rotation the key before works for a while.
        or(
          eq(apiKeys.hash, sql.placeholder("hash")),
          and(eq(apiKeys.previousHash, sql.placeholder("hash")), gt(apiKeys.previousExpires, sql.placeholder("now"))),
        ),
        eq(apiKeys.siteId, sql.placeholder("siteId")),
      ),
    ),
);

const accountOfSession = prepared((db) =>
  db
    .select({
      roles: sql<string>`${countingRoles}`.as("roles"),
      tags: accounts.tags,
      passwordVersion: accounts.passwordVersion,
      revoked: sessions.revoked,
    })
    .from(accounts)
    .innerJoin(sessions, and(eq(sessions.id, sql.placeholder("sessionId")), eq(sessions.accountId, accounts.id)))
    .where(and(eq(accounts.id, sql.placeholder("accountId")), eq(accounts.siteId, sql.placeholder("audience")))),
);

/** The site alone (`Tifo-Client-Id`). */
export function checkSite(siteId: string, refused = unauthenticated("Unknown Tifo-Client-Id")): IdentityCheck {
  if (!ID_PATTERN.test(siteId)) throw refused;
  if (knownSites.has(siteId)) return { confirm: () => ({ kind: "anonymous" }) };
  return {
    query: siteById({ siteId }).toSQL(),
    confirm(row) {
      if (!row) throw refused;
      knownSites.add(siteId);
      return { kind: "anonymous" };
    },
  };
}

/** A developer key of this site; from a browser (`origin`, of another host) only where the site lists that origin. */
export async function checkDeveloperKey(siteId: string, key: string, origin: string | undefined, now: number): Promise<IdentityCheck> {
  const hash = await sha256(key);
  const refused = unauthenticated("The developer key is unknown, expired or not of this site");
  return {
    query: keyByHash({ hash, now, siteId }).toSQL(),
    confirm(row) {
      if (!row) throw refused;
      const [id, roles, expires, origins] = row;
      if (typeof expires === "number" && expires <= now) throw refused;
      if (origin !== undefined && !Strings.parse(JSON.parse(typeof origins === "string" ? origins : "[]")).includes(origin)) {
        throw forbidden("Keys are refused from browsers unless the site's settings.security.allowedOrigins lists the origin");
      }
      return { kind: "developer", id: String(id), roles: Strings.parse(JSON.parse(String(roles))) };
    },
  };
}

/** A viewer's or admin's JWT; roles, session and password version are those of this moment, so a revocation acts at once. */
export async function checkBearer(env: Env, siteId: string | undefined, token: string): Promise<IdentityCheck> {
  const claims = await verifyToken(env, token);
  const refused = unauthenticated("The session has ended");
  if (claims.audience === GLOBAL_AUDIENCE) return checkGlobalBearer(env, claims.accountId, claims.sessionId, claims.passwordVersion);
  if (siteId !== undefined && claims.audience !== siteId) throw unauthenticated("The bearer token is of another site");
  return {
    accountId: claims.accountId,
    query: accountOfSession({ sessionId: claims.sessionId, accountId: claims.accountId, audience: claims.audience }).toSQL(),
    confirm(row) {
      const [roles, tags, passwordVersion, revoked] = row ?? [];
      if (!row || revoked !== null || passwordVersion !== claims.passwordVersion) throw refused;
      return {
        kind: "account",
        id: claims.accountId,
        sessionId: claims.sessionId,
        roles: Roles.parse(JSON.parse(String(roles))),
        tags: Strings.parse(JSON.parse(String(tags))),
      };
    },
  };
}

function checkGlobalBearer(env: Env, accountId: string, sessionId: string, version: number): IdentityCheck {
  return {
    query: createDb(env.DB)
      .select({ passwordVersion: globalAccounts.passwordVersion, revoked: sessions.revoked })
      .from(globalAccounts)
      .innerJoin(sessions, and(eq(sessions.id, sessionId), eq(sessions.accountId, globalAccounts.id)))
      .where(eq(globalAccounts.id, accountId))
      .toSQL(),
    confirm(row) {
      const [passwordVersion, revoked] = row ?? [];
      if (!row || revoked !== null || passwordVersion !== version) throw unauthenticated("The session has ended");
      return { kind: "global", id: accountId, sessionId };
    },
  };
}

/** A stream provider, by the authorization of its registration, which says of which site it is. */
export async function checkProvider(env: Env, siteId: string | undefined, authorization: string): Promise<IdentityCheck> {
  const hashes = await lookUpHashes(env, PROVIDER_PURPOSE, authorization);
  return {
    query: createDb(env.DB)
      .select({ id: streamProviders.id, siteId: streamProviders.siteId })
      .from(streamProviders)
      .where(and(inArray(streamProviders.authorizationHash, hashes), siteId === undefined ? undefined : eq(streamProviders.siteId, siteId)))
      .toSQL(),
    confirm(row) {
      if (!row) throw unauthenticated("The authorization is of no stream provider of the site");
      return { kind: "provider", id: String(row[0]), siteId: String(row[1]) };
    },
  };
}

/** The operator of the deployment, whose key has no place in a page of another host (`origin`). */
export async function checkSuperKey(env: Env, key: string, origin: string | undefined): Promise<IdentityCheck> {
  // A deployment without the key has no operator, not one whom everybody can be.
  if (key === "" || !equalInConstantTime(await sha256(key), await sha256(env.TIFO_SUPER_KEY)))
    throw unauthenticated("The super key is wrong");
  if (origin !== undefined) throw forbidden("The super key is refused from browsers");
  return { confirm: () => ({ kind: "super" }) };
}

/** The guard of a request's database: the check rides with the first read and goes ahead of the first write. */
export class Identity implements DbGuard {
  readonly #check: IdentityCheck;
  readonly #admit: (actor: Actor) => void;
  #actor: Actor | undefined;

  /** `admit` throws a 403 when a confirmed caller's role isn't enough. */
  constructor(check: IdentityCheck, admit: (actor: Actor) => void) {
    this.#check = check;
    this.#admit = admit;
    if (!check.query) this.settle(undefined);
  }

  pending(): { sql: string; params: unknown[] } | undefined {
    return this.#actor ? undefined : this.#check.query;
  }

  settle(row: unknown[] | undefined): void {
    const actor = this.#check.confirm(row);
    this.#admit(actor);
    this.#actor = actor;
  }

  /** Who calls; asks D1 if no read has done so yet. */
  async confirm(d1: D1Database, usage: D1Usage): Promise<Actor> {
    const query = this.pending();
    if (query) {
      usage.roundTrips += 1;
      usage.statements += 1;
      const [row] = await d1
        .prepare(query.sql)
        .bind(...query.params)
        .raw<unknown[]>();
      this.settle(row);
    }
    if (!this.#actor) throw unauthenticated();
    return this.#actor;
  }
}
