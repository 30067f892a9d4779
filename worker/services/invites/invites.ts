import { eq, exists, inArray, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { IntentRow } from "#db/schema/accounts.ts";
import { accountEntitlements, type EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import { type InviteRow, invites, type RegisterInviteRow } from "#db/schema/invites.ts";
import { randomCode } from "#worker/lib/crypto/codes.ts";
import { lookUpHashes, open, seal } from "#worker/lib/crypto/crypto.ts";
import { wonRace, conflict, invalid, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import type { Slot } from "#worker/lib/limits.ts";
import { type InviteInput, toInviteEvent, type UpdateInvite } from "./schemas.ts";
import { accountEvent, insertAccount, newAccount, placeholderEmail } from "#worker/services/accounts/account-rows.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { findBySource, planGrants, planTransition } from "#worker/services/subscriptions/entitlements.ts";
import { newIntent, type Redemption, voidIntents } from "#worker/services/auth/intent-rows.ts";
import { inInviteService } from "./failures.ts";
import { ctxOf, fromEveryDb } from "#worker/services/core/databases.ts";
import { type Budgets, findWithin } from "#worker/services/core/limits.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { deleteRegisterInvite, revokeRegisterInvite } from "./register-invites.ts";
import { skusAt } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { getSite, requireAllowedUrl, requireOwnSite } from "#worker/services/sites/current-site.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import type { Invite } from "./invite-rows.ts";

const PURPOSE = "invite token";
const TOKEN_LENGTH = 6;
/** 131 bits of entropy. */
const LONG_TOKEN_LENGTH = 22;
const TOKEN_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TOKEN_ATTEMPTS = 3;
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 7 * DAY_MS;
const MAX_LIFETIME_MS = 366 * DAY_MS;

const inviteList = tableList<InviteRow>({
  table: invites,
  rows: (db, slice) => sliceOf(db.select().from(invites).$dynamic(), slice),
  sort: { created: invites.created, modified: invites.modified, expiresAt: invites.expires },
  search: { redirectUri: invites.redirectUri },
});

export async function listInvites(ctx: Ctx, query: ListQuery & { consumed?: boolean; revoked?: boolean }): Promise<ListPage<Invite>> {
  const { consumed, revoked } = query;
  const ofSite = eq(invites.siteId, ctx.siteId);
  const page = await listRows(ctx, inviteList, query, ofSite, isSet(invites.consumedAt, consumed), isSet(invites.revokedAt, revoked));
  return { ...page, rows: await Promise.all(page.rows.map((row) => withToken(ctx, row))) };
}

function isSet(column: SQLiteColumn, wanted: boolean | undefined): SQL | undefined {
  if (wanted === undefined) return undefined;
  return wanted ? isNotNull(column) : isNull(column);
}

export async function getInvite(ctx: Ctx, id: string): Promise<Invite> {
  return withToken(ctx, await readInvite(ctx, id));
}

/** Creates a magic link. Only its recipient and the site's developer keys see the token. */
export async function createInvite(ctx: Ctx, input: InviteInput): Promise<Invite> {
  return inInviteService("Create", async () => {
    const columns = await columnsOf(ctx, input);
    const { longInviteTokens = false } = (await getSite(ctx)).settings.security;
    const length = longInviteTokens ? LONG_TOKEN_LENGTH : TOKEN_LENGTH;
    for (let attempt = 0; attempt < TOKEN_ATTEMPTS; attempt++) {
      const token = randomCode(length, TOKEN_ALPHABET);
      const sealed = await sealToken(ctx.env, token);
      const row: InviteRow = { ...newRow(ctx), ...columns, ...sealed, consumedAt: null, revokedAt: null, accountId: null };
      const insert = ctx.db.insert(invites).values(row);
      const write = () => commitReferencing(ctx, skusAt("targetSkus", input.targetSkus), insert, inviteEvent("created", row));
      if (await wonRace(() => rejectDuplicate("invites.token_hash", "This token is already in use", write))) return { ...row, token };
    }
    throw conflict("Couldn't generate a unique token; try again");
  });
}

/** The columns that store a token: encrypted, to show it again, and as a keyed hash, to look it up. */
export async function sealToken(env: { TIFO_SECRET: string }, token: string): Promise<Pick<InviteRow, "tokenSealed" | "tokenHash">> {
  const [tokenHash] = await lookUpHashes(env, PURPOSE, token);
  return { tokenSealed: await seal(env, PURPOSE, token), tokenHash };
}

/** Replaces the redirect and the grants of an invite that has been neither redeemed nor revoked. */
export async function updateInvite(ctx: Ctx, id: string, input: UpdateInvite): Promise<Invite> {
  return inInviteService("Update", async () => {
    const current = await readInvite(ctx, id);
    requireUnused(current);
    const next: InviteRow = { ...current, ...(await columnsOf(ctx, input, current.expires)), ...nextVersion(ctx, current) };
    const references = newReferences(skusAt("targetSkus", input.targetSkus), skusAt("targetSkus", current.targetSkus));
    const change = updateRow(ctx, invites, current, next, referencesExist(ctx, references));
    await withReferences(ctx, references, () => commitIfUnchanged(ctx, change, inviteEvent("updated", next)));
    return withToken(ctx, next);
  });
}

/** Deletes an invite of either kind. A redeemed magic link must be revoked first, so that no entitlement outlives its record. */
export async function deleteInvite(ctx: Ctx, id: string): Promise<{ id: string }> {
  return inInviteService("Delete", async () => {
    const current = await findInvite(ctx, id);
    if (!current) return deleteRegisterInvite(ctx, id);
    requireMatch(ctx, current);
    if (current.accountId !== null && current.revokedAt === null) {
      throw conflict("The invite has been redeemed; revoke it first, which also revokes what it granted");
    }
    const change = deleteRow(ctx, invites, current);
    await commitIfUnchanged(ctx, [change, voidIntents(ctx, id)], inviteEvent("deleted", current));
    return current;
  });
}

/** Revokes an invite of either kind, and the entitlements that a redeemed magic link granted. The record stays. */
export function revokeInvite(ctx: Ctx, id: string): Promise<Invite | RegisterInviteRow> {
  return inInviteService("Revoke", () => revokeEither(ctx, id));
}

async function revokeEither(ctx: Ctx, id: string): Promise<Invite | RegisterInviteRow> {
  const current = await findInvite(ctx, id);
  if (!current) return revokeRegisterInvite(ctx, id);
  if (current.revokedAt !== null) throw conflict("The invite has already been revoked");
  const next: InviteRow = { ...current, revokedAt: ctx.now, ...nextVersion(ctx, current) };
  const held = await findBySource(ctx, sourceOf(current));
  const granted = await planTransition(ctx, sourceOf(current), "remove");
  const change = updateRow(ctx, invites, current, next, areUnchanged(ctx, sourceOf(current), held));
  const changes = [change, voidIntents(ctx, id), ...granted.changes];
  const first = await wonRace(() => commitIfUnchanged(ctx, changes, inviteEvent("revoked", next), ...granted.events));
  return first ? withToken(ctx, next) : revokeEither(ctx, id);
}

/**
 * Opens a magic link: returns the redirect URL with an intent, valid for 10 minutes, that signs the visitor in once. The link may be
 * opened again until an intent is redeemed, so a link scanner doesn't use it up.
 */
export async function openInvite(ctx: Ctx, token: string, address: string): Promise<string> {
  // The site is only known once the invite is found, so misses are counted for the whole deployment.
  const deploymentCtx: Ctx = { ...ctx, siteId: GLOBAL_AUDIENCE };
  const own: Slot[] = [{ name: "missLink", key: address }];
  // Long tokens can't be guessed, so other callers' guesses don't block them.
  const budgets: Budgets = token.length > TOKEN_LENGTH ? { own } : { own, all: "guessLink", most: "guessLinkAtMost" };
  const invite = await findWithin(deploymentCtx, budgets, () => findByToken(ctx, token));
  if (!invite) throw notFound("Invite not found");
  return inInviteService("Consume", () => issueIntent(ctxOf(ctx, invite.siteId), invite));
}

async function issueIntent(ctx: Ctx, invite: InviteRow): Promise<string> {
  requireUsable(ctx, invite);
  // The site may have removed the origin from its list since; its new owner would receive the intent.
  await requireAllowedUrl(ctx, "redirectUri", invite.redirectUri);
  const intent = await newIntent(ctx, { kind: "invite", accountId: null, sourceId: invite.id, data: {} });
  if (invite.consumedAt !== null) await commit(ctx, intent.insert);
  else {
    const consumed: InviteRow = { ...invite, consumedAt: ctx.now, modified: ctx.now, version: invite.version + 1 };
    const change = updateRow(ctx, invites, invite, consumed);
    const first = await wonRace(() => commitIfUnchanged(ctx, [change, intent.insert], inviteEvent("consumed", consumed)));
    if (!first) return issueIntent(ctx, await readInvite(ctx, invite.id));
  }
  const target = new URL(invite.redirectUri);
  target.searchParams.set("intent", intent.token);
  return target.href;
}

/** Redeems an invite's intent into a guest account that holds the invite's skus. Only one intent per invite can be redeemed. */
export async function redeemInvite(ctx: Ctx, intent: IntentRow): Promise<Redemption> {
  return inInviteService("Consume", async () => {
    const invite = await readInvite(ctx, intent.sourceId ?? "");
    requireUsable(ctx, invite, invite.consumedAt ?? ctx.now);
    const guest = { email: placeholderEmail(invite.id), name: "Guest", marketingOptin: false };
    const account = { ...(await newAccount(ctx, guest, [])), trusted: true };
    const redemption = { accountId: account.id, modified: ctx.now, version: invite.version + 1 };
    const change = updateRow(ctx, invites, invite, redemption);
    const grant = { accountId: account.id, skus: invite.targetSkus, grantedMethod: "customerService" as const, source: sourceOf(invite) };
    const grants = planGrants(ctx, grant, []);
    return {
      account,
      service: "invite-service-v1",
      thirdPartyAccountId: null,
      condition: exists(
        ctx.db
          .select({ id: invites.id })
          .from(invites)
          .where(whereVersion(ctx, invites, invite)),
      ),
      changes: [change, voidIntents(ctx, invite.id), ...insertAccount(ctx, account), ...grants.changes],
      events: [inviteEvent("redeemed", { ...invite, ...redemption }), accountEvent("new_account", account), ...grants.events],
    };
  });
}

async function columnsOf(ctx: Ctx, input: UpdateInvite, expires = ctx.now + LIFETIME_MS) {
  requireOwnSite(ctx, input.siteId);
  const { redirectUri, tags, expiresAt = expires } = input;
  await requireAllowedUrl(ctx, "redirectUri", redirectUri);
  if (expiresAt !== expires && (expiresAt <= ctx.now || expiresAt > ctx.now + MAX_LIFETIME_MS)) {
    throw invalid("expiresAt", "Must be in the future, and at most a year from now");
  }
  return { redirectUri, targetSkus: [...new Set(input.targetSkus)], tags, expires: expiresAt };
}

async function readInvite(ctx: Ctx, id: string): Promise<InviteRow> {
  const invite = await findInvite(ctx, id);
  if (!invite) throw notFound("Invite not found");
  return invite;
}

async function findInvite(ctx: Ctx, id: string): Promise<InviteRow | undefined> {
  const [invite] = await ctx.db
    .select()
    .from(invites)
    .where(ownRow(ctx, invites, id));
  return invite;
}

async function findByToken(ctx: Ctx, token: string): Promise<InviteRow | undefined> {
  const hashes = await lookUpHashes(ctx.env, PURPOSE, token);
  const found = await fromEveryDb(ctx, (db) => db.select().from(invites).where(inArray(invites.tokenHash, hashes)));
  return found[0];
}

async function withToken(ctx: Ctx, row: InviteRow): Promise<Invite> {
  return { ...row, token: await open(ctx.env, PURPOSE, row.tokenSealed) };
}

function requireUnused(invite: InviteRow): void {
  if (invite.revokedAt !== null) throw conflict("The invite has been revoked");
  if (invite.accountId !== null) throw conflict("The invite has already been redeemed");
}

/** `at`: when the link was opened, which must be before the invite expires. */
function requireUsable(ctx: Ctx, invite: InviteRow, at = ctx.now): void {
  requireUnused(invite);
  if (invite.expires <= at) throw conflict("The invite has expired");
}

/** Whether the entitlements of a source are unchanged since they were read, so that the planned changes cover all of them. */
function areUnchanged(ctx: Ctx, source: string, rows: EntitlementRow[]): SQL {
  const { id, siteId, source: ofSource, version } = accountEntitlements;
  const known = JSON.stringify(rows.map((row) => `${row.id}:${row.version}`));
  return sql`not exists (select 1 from ${accountEntitlements} where ${siteId} = ${ctx.siteId} and ${ofSource} = ${source}
    and ${id} || ':' || ${version} not in (select value from json_each(${known})))`;
}

/** Links the entitlements that an invite granted to the invite. */
function sourceOf(invite: InviteRow): string {
  return `invite/${invite.id}`;
}

function inviteEvent(change: "created" | "updated" | "deleted" | "revoked" | "consumed" | "redeemed", invite: InviteRow): NewEvent {
  return { type: `invite.${change}`, resource: `invite/${invite.id}`, data: toInviteEvent(invite) };
}
