import { and, eq, gt, inArray, or, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import type { D1Usage, Db, DbGuard } from "#db/client.ts";
import { directoryDb, isSharded, siteDatabase } from "#db/databases.ts";
import { prepared } from "#db/prepared.ts";
import { ROLE_SCOPES } from "#db/enums.ts";
import { accounts, globalAccounts, sessions } from "#db/schema/accounts.ts";
import { apiKeys, sites } from "#db/schema/sites.ts";
import { streamProviders } from "#db/schema/streams/streams.ts";
import { equalInConstantTime, lookUpHashes, sha256 } from "#worker/lib/crypto/crypto.ts";
import { forbidden, notFound, unauthenticated } from "#worker/lib/errors.ts";
import { ID_PATTERN, mayBeSandbox } from "#worker/lib/ids.ts";
import type { Actor } from "#worker/services/core/context.ts";
import { fromShards } from "#worker/services/core/databases.ts";
import { effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import { PROVIDER_PURPOSE } from "#worker/services/stream-providers/stream-providers.ts";
import { GLOBAL_AUDIENCE, verifyToken } from "./tokens.ts";

/** A single-row query that authenticates the caller, and how to read its row; `confirm` throws a 401 or 403. */
export interface IdentityCheck {
  /** The site whose database has the row, and what the request reads and writes; empty for the deployment. */
  siteId: string;
  /** False if the caller only names the site: the check succeeds even if it doesn't exist. */
  provesSite?: false;
  query?: { sql: string; params: unknown[] };
  /** The account in the token. Not confirmed yet, but queries return nothing unless the check succeeds. */
  accountId?: string;
  confirm(row: unknown[] | undefined): Actor;
}

// Only sandboxes are ever deleted, so any other known site can be cached for the lifetime of the isolate.
const knownSites = new Set<string>();

// The check reads raw rows, so JSON columns are text; these parse them.
const Roles = z.array(z.object({ scope: z.enum(ROLE_SCOPES), pageId: z.array(z.string()), write: z.boolean() }));
const Strings = z.array(z.string());

// Every request runs one of these checks, so each is compiled once.
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
        // The previous key works for a while after a rotation.
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
      roles: sql<string>`${effectiveRoles}`.as("roles"),
      tags: accounts.tags,
      passwordVersion: accounts.passwordVersion,
      revoked: sessions.revoked,
    })
    .from(accounts)
    .innerJoin(sessions, and(eq(sessions.id, sql.placeholder("sessionId")), eq(sessions.accountId, accounts.id)))
    .where(and(eq(accounts.id, sql.placeholder("accountId")), eq(accounts.siteId, sql.placeholder("audience")))),
);

const globalAccountOfSession = prepared((db) =>
  db
    .select({ passwordVersion: globalAccounts.passwordVersion, revoked: sessions.revoked })
    .from(globalAccounts)
    .innerJoin(sessions, and(eq(sessions.id, sql.placeholder("sessionId")), eq(sessions.accountId, globalAccounts.id)))
    .where(eq(globalAccounts.id, sql.placeholder("accountId"))),
);

/** Checks only the site (`Tifo-Client-Id`); without it, a 401 or, with a message for that, a 404. */
export function checkSite(siteId: string, notFoundMessage?: string): IdentityCheck {
  const unknownSite = () => (notFoundMessage === undefined ? unauthenticated("Unknown Tifo-Client-Id") : notFound(notFoundMessage));
  if (!ID_PATTERN.test(siteId)) throw unknownSite();
  if (knownSites.has(siteId)) return { siteId, confirm: () => ({ kind: "anonymous" }) };
  return {
    siteId,
    query: siteById({ siteId }).toSQL(),
    confirm(row) {
      if (!row) throw unknownSite();
      if (!mayBeSandbox(siteId)) knownSites.add(siteId);
      return { kind: "anonymous" };
    },
  };
}

/** Checks a developer key of this site; from a browser (cross-origin `origin`) only if the site lists the origin. */
export async function checkDeveloperKey(siteId: string, key: string, origin: string | undefined, now: number): Promise<IdentityCheck> {
  const hash = await sha256(key);
  const invalidKey = () => unauthenticated("The developer key is unknown, expired or belongs to another site");
  return {
    siteId,
    query: keyByHash({ hash, now, siteId }).toSQL(),
    confirm(row) {
      if (!row) throw invalidKey();
      const [id, roles, expires, origins] = row;
      if (typeof expires === "number" && expires <= now) throw invalidKey();
      if (origin !== undefined && !Strings.parse(JSON.parse(typeof origins === "string" ? origins : "[]")).includes(origin)) {
        throw forbidden("Developer keys are rejected from browsers unless the site's settings.security.allowedOrigins lists the origin");
      }
      return { kind: "developer", id: String(id), roles: Strings.parse(JSON.parse(String(roles))) };
    },
  };
}

/** Checks a viewer's or admin's JWT. Reads the current roles, session and password version, so a revocation takes effect immediately. */
export async function checkBearer(env: Env, siteId: string | undefined, token: string): Promise<IdentityCheck> {
  const claims = await verifyToken(env, token);
  if (claims.audience === GLOBAL_AUDIENCE) return checkGlobalBearer(claims.accountId, claims.sessionId, claims.passwordVersion);
  if (siteId !== undefined && claims.audience !== siteId) throw unauthenticated("The bearer token belongs to another site");
  return {
    siteId: claims.audience,
    accountId: claims.accountId,
    query: accountOfSession({ sessionId: claims.sessionId, accountId: claims.accountId, audience: claims.audience }).toSQL(),
    confirm(row) {
      const [roles, tags, passwordVersion, revoked] = row ?? [];
      if (!row || revoked !== null || passwordVersion !== claims.passwordVersion) throw unauthenticated("The session has ended");
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

function checkGlobalBearer(accountId: string, sessionId: string, version: number): IdentityCheck {
  return {
    siteId: "",
    query: globalAccountOfSession({ sessionId, accountId }).toSQL(),
    confirm(row) {
      const [passwordVersion, revoked] = row ?? [];
      if (!row || revoked !== null || passwordVersion !== version) throw unauthenticated("The session has ended");
      return { kind: "global", id: accountId, sessionId };
    },
  };
}

/** Checks a stream provider by the authorization of its registration, which also identifies its site. */
export async function checkProvider(env: Env, namedSite: string | undefined, authorization: string): Promise<IdentityCheck> {
  const hashes = await lookUpHashes(env, PROVIDER_PURPOSE, authorization);
  const registration = (db: Db, siteId: string | undefined) =>
    db
      .select({ id: streamProviders.id, siteId: streamProviders.siteId })
      .from(streamProviders)
      .where(
        and(inArray(streamProviders.authorizationHash, hashes), siteId === undefined ? undefined : eq(streamProviders.siteId, siteId)),
      );
  // With one shard, its database needs no site to be chosen.
  const siteId = namedSite ?? (isSharded(env) ? (await fromShards(env, (db) => registration(db, undefined)))[0]?.siteId : undefined);
  return {
    siteId: siteId ?? "",
    query: registration(directoryDb(env), siteId).toSQL(),
    confirm(row) {
      if (!row) throw unauthenticated("The authorization doesn't match a stream provider of the site");
      return { kind: "provider", id: String(row[0]), siteId: String(row[1]) };
    },
  };
}

/** Checks the operator's key, which must never be used from a page of another host (`origin`). */
export async function checkSuperKey(env: Env, key: string, origin: string | undefined): Promise<IdentityCheck> {
  // Without a configured key there is no operator, rather than one without a password.
  if (key === "" || !equalInConstantTime(await sha256(key), await sha256(env.TIFO_SUPER_KEY)))
    throw unauthenticated("The super key is incorrect");
  if (origin !== undefined) throw forbidden("The super key is rejected from browsers");
  return { siteId: "", confirm: () => ({ kind: "super" }) };
}

/** The guard of a request's database: the check is batched with the first read, and runs before the first write. */
export class Identity implements DbGuard {
  readonly #check: IdentityCheck;
  readonly #authorize: (actor: Actor) => void;
  /** What else must succeed before a row is returned or changed: the operation's rate limit. */
  admit?: () => Promise<void>;
  #actor: Actor | undefined;
  #siteId: string | undefined;

  /** `authorize` throws a 403 if the caller's role isn't sufficient. */
  constructor(check: IdentityCheck, authorize: (actor: Actor) => void) {
    this.#check = check;
    this.#authorize = authorize;
    if (!check.query) this.settle(undefined);
  }

  /** The site of the caller's credentials, which exists. Undefined before the check, and if they are of no site or of an unknown one. */
  get siteId(): string | undefined {
    return this.#siteId;
  }

  pending(): { sql: string; params: unknown[] } | undefined {
    return this.#actor ? undefined : this.#check.query;
  }

  settle(row: unknown[] | undefined): void {
    const actor = this.#check.confirm(row);
    this.#siteId = provenSite(this.#check, actor);
    this.#authorize(actor);
    this.#actor = actor;
  }

  /** The authenticated caller; queries D1 unless a read has already done so. */
  async confirm(env: Env, usage: D1Usage): Promise<Actor> {
    const query = this.pending();
    if (query) {
      usage.roundTrips += 1;
      usage.statements += 1;
      const database = await siteDatabase(env, this.#check.siteId, usage);
      const [row] = await database
        .prepare(query.sql)
        .bind(...query.params)
        .raw<unknown[]>();
      this.settle(row);
    }
    if (!this.#actor) throw unauthenticated();
    return this.#actor;
  }
}

function provenSite({ siteId, provesSite }: IdentityCheck, actor: Actor): string | undefined {
  if (actor.kind === "provider") return actor.siteId;
  return siteId === "" || provesSite === false ? undefined : siteId;
}
