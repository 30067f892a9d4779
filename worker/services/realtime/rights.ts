import { and, eq, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import { ROLE_SCOPES } from "#db/enums.ts";
import { accounts, sessions } from "#db/schema/accounts.ts";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { outputs } from "#db/schema/streams/outputs.ts";
import { pages } from "#db/schema/pages.ts";
import type { PageGate } from "#db/types.ts";
import { hash32 } from "#worker/lib/crypto/hash.ts";
import { managesPage } from "#worker/lib/roles.ts";
import type { VersionedGate } from "#worker/durable-objects/channel/channel.protocol.ts";
import { effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import { restricts } from "#worker/services/videos/gate-departures.ts";
import { givesAccess } from "#worker/services/subscriptions/entitlements.ts";
import {
  type AccountAttributes,
  attributeColumns,
  AttributeRow,
  parseSegments,
  readPoints,
  segmentsJson,
  type SiteSegments,
  siteVersion,
  toAttributes,
} from "#worker/services/segments/membership.ts";

/** Owners per statement. */
const BATCH_SIZE = 500;
/** Later than any stored time. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** The owner of a signed-in viewer's socket. Without a session id, access doesn't depend on a session. */
interface AccountOwner {
  accountId: string;
  sessionId: string | null;
}

/** The owner of a socket whose access has to be looked up: an account, or an output, which passes any gate while it exists. */
export type SocketOwner = AccountOwner | { outputId: string };

/** Whether a socket may stay open: why not, or until when at least (ms; null: no limit). */
export interface Right {
  denial: "unauthenticated" | "forbidden" | null;
  until: number | null;
  /** What the site's segments can ask about the account; null without one. */
  attributes: AccountAttributes | null;
}

/** The rights by `ownerKey`, and the site's segments as of the same moment. */
export interface Rights {
  byOwner: Map<string, Right>;
  site: SiteSegments;
}

const Row = z.object({
  key: z.string(),
  // Null if there is no such account, like all that is stored about it.
  roles: z.string().nullable(),
  tags: z.string().nullable(),
  entitlements: z.string().nullable(),
  watchSeconds: z.number().nullable(),
  sessionEnds: z.number().nullable(),
  heldUntil: z.number().nullable(),
  hasCode: z.number(),
});
const OutputRow = z.object({ key: z.string(), isOutput: z.literal(1), isValid: z.number(), expires: z.number().nullable() });
const Roles = z.array(z.object({ scope: z.enum(ROLE_SCOPES), pageId: z.array(z.string()), write: z.boolean() }));

export function ownerKey(owner: SocketOwner): string {
  return "outputId" in owner ? `output:${owner.outputId}` : `${owner.accountId}:${owner.sessionId ?? ""}`;
}

function accountOf(key: string): string {
  return key.slice(0, key.indexOf(":"));
}

/** A channel's gate, and whether its page limits who may watch, when or where; null if the site has no such channel. */
export async function readGate(
  env: Env,
  siteId: string,
  channelId: string,
): Promise<{ gate: VersionedGate; isRestricted: boolean } | null> {
  const [row] = await selectGate(env, siteId, channelId);
  return row ? { gate: versionedGate(row), isRestricted: restricts(row.data) } : null;
}

/** The gate of a page, in the form that objects exchange. */
export function versionedGate({ version, data: { gate } }: { version: number; data: { gate: PageGate } }): VersionedGate {
  return { version, type: gate.type, digest: `${gate.skus.length}:${hash32([...gate.skus].sort().join("\n"))}` };
}

/**
 * Whether these viewers have access to the channel now: their session is valid and they pass the gate; and what decides about their segments.
 * One round trip for any number of viewers, and a call to each leaderboard that segments depend on. A login gate with skus requires a login
 * code for one of them; accounts that manage the page pass any gate.
 */
export async function readRights(
  env: Env,
  { siteId, channelId }: { siteId: string; channelId: string },
  owners: SocketOwner[],
  now: number,
): Promise<Rights> {
  const accountOwners = owners.filter((owner) => "accountId" in owner);
  const outputIds = owners.flatMap((owner) => ("outputId" in owner ? [owner.outputId] : []));
  const batches = Array.from({ length: Math.ceil(accountOwners.length / BATCH_SIZE) }, (_, i) =>
    accountOwners.slice(i * BATCH_SIZE, (i + 1) * BATCH_SIZE),
  );
  const [gates, ...found] = await siteDb(env, siteId).batch([
    selectGate(env, siteId, channelId),
    ...batches.map((batch) => selectOwners(env, { siteId, channelId }, batch, now)),
    ...(outputIds.length > 0 ? [selectOutputs(env, { siteId, channelId }, outputIds, now)] : []),
  ]);
  const gate = gates[0]?.data.gate ?? { type: "none", skus: [] };
  const rows = z.array(z.union([Row, OutputRow])).parse(found.flat());
  const segments = parseSegments(gates[0]?.segments ?? null);
  const pointsOf = await readPoints(env, siteId, segments, [...new Set(accountOwners.map(({ accountId }) => accountId))]);
  const right = (row: (typeof rows)[number]) =>
    "isOutput" in row ? rightOfOutput(row) : rightOf(row, gate, channelId, pointsOf(accountOf(row.key)));
  return {
    byOwner: new Map(rows.map((row) => [row.key, right(row)])),
    site: { version: gates[0]?.siteVersion ?? 0, segments },
  };
}

function selectGate(env: Env, siteId: string, channelId: string) {
  return siteDb(env, siteId)
    .select({ version: pages.version, data: pages.data, ...segmentColumns(siteId) })
    .from(pages)
    .where(and(eq(pages.siteId, siteId), eq(pages.id, channelId), eq(pages.type, "channel")));
}

/** The site's segments and the version of its row, for a select of its pages. */
export function segmentColumns(siteId: string) {
  return { siteVersion: siteVersion(siteId).as("site_version"), segments: segmentsJson(siteId).as("segments") };
}

/** Outputs that were revoked or have expired aren't valid. */
function selectOutputs(env: Env, { siteId, channelId }: { siteId: string; channelId: string }, outputIds: string[], now: number) {
  return siteDb(env, siteId)
    .select({
      key: sql`'output:' || owner.value`.as("key"),
      isOutput: sql`1`.as("is_output"),
      isValid: sql`${outputs.id} is not null and coalesce(${outputs.expires}, ${NEVER}) > ${now}`.as("is_valid"),
      expires: outputs.expires,
    })
    .from(sql`json_each(${JSON.stringify(outputIds)}) as owner`)
    .leftJoin(outputs, sql`${outputs.id} = owner.value and ${outputs.siteId} = ${siteId} and ${outputs.channelId} = ${channelId}`);
}

function rightOfOutput({ isValid, expires }: z.infer<typeof OutputRow>): Right {
  return { denial: isValid === 1 ? null : "unauthenticated", until: expires, attributes: null };
}

function selectOwners(env: Env, { siteId, channelId }: { siteId: string; channelId: string }, owners: AccountOwner[], now: number) {
  const list = JSON.stringify(owners.map((owner) => [ownerKey(owner), owner.accountId, owner.sessionId]));
  const accountId = sql`owner.value ->> 1`;
  const sessionId = sql`owner.value ->> 2`;
  const skus = sql`(select value from json_each((select json_extract(${pages.data}, '$.gate.skus') from ${pages}
    where ${pages.siteId} = ${siteId} and ${pages.id} = ${channelId})))`;
  const { status, dateEnds } = accountEntitlements;
  const { tags, entitlements, watchSeconds } = attributeColumns(siteId, now);
  return siteDb(env, siteId)
    .select({
      key: sql`owner.value ->> 0`.as("key"),
      roles: sql`${effectiveRoles}`.as("roles"),
      tags,
      entitlements,
      watchSeconds,
      // A new password, a sign-out and expiry each end a session.
      sessionEnds: sql`case when ${sessionId} is null then ${NEVER} else (select ${sessions.expires} from ${sessions}
        where ${sessions.id} = ${sessionId} and ${sessions.accountId} = ${accounts.id} and ${sessions.audience} = ${siteId}
          and ${sessions.revoked} is null and ${sessions.expires} > ${now} and ${sessions.passwordVersion} = ${accounts.passwordVersion}) end`.as(
        "session_ends",
      ),
      heldUntil: sql`(select max(case when ${status} = 'cancelScheduled' then coalesce(${dateEnds}, ${NEVER}) else ${NEVER} end)
        from ${accountEntitlements} where ${accountEntitlements.siteId} = ${siteId} and ${accountEntitlements.accountId} = ${accountId}
          and ${givesAccess(now)} and ${accountEntitlements.sku} in ${skus})`.as("held_until"),
      hasCode: sql`exists (select 1 from ${accessCodes} where ${accessCodes.siteId} = ${siteId} and ${accessCodes.accountId} = ${accountId}
        and ${accessCodes.type} = 'login' and ${accessCodes.sku} in ${skus})`.as("has_code"),
    })
    .from(sql`json_each(${list}) as owner`)
    .leftJoin(accounts, sql`${accounts.siteId} = ${siteId} and ${accounts.id} = ${accountId}`);
}

function rightOf(row: z.infer<typeof Row>, gate: PageGate, channelId: string, points: AccountAttributes["points"]): Right {
  const { roles, sessionEnds, heldUntil, hasCode } = row;
  if (roles === null || sessionEnds === null) return { denial: "unauthenticated", until: null, attributes: null };
  const passes = passingUntil(gate, heldUntil, hasCode === 1);
  const manages = passes === null && managesPage(Roles.parse(JSON.parse(roles)), channelId, "read");
  if (passes === null && !manages) return { denial: "forbidden", until: null, attributes: null };
  const until = Math.min(sessionEnds, passes ?? NEVER);
  const attributes = toAttributes(AttributeRow.parse({ ...row, scopes: roles }), points);
  return { denial: null, until: until === NEVER ? null : until, attributes };
}

/** Until when (ms) an account without roles passes the gate; null: not at all. */
function passingUntil({ type, skus }: PageGate, heldUntil: number | null, hasCode: boolean): number | null {
  if (type === "none") return NEVER;
  if (type === "login") return skus.length === 0 || hasCode ? NEVER : null;
  return heldUntil;
}
