import { and, eq, exists, inArray, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import {
  accountEntitlements,
  type EntitlementRow,
  type IntentRow,
  type InviteRow,
  invites,
  type RegisterInviteRow,
} from "#db/schema/index.ts";
import { randomCode } from "#worker/lib/crypto/codes.ts";
import { lookUpHashes, open, seal } from "#worker/lib/crypto/crypto.ts";
import { wonRace, conflict, invalid, notFound, refuseDuplicate } from "#worker/lib/errors.ts";
import type { Slot } from "#worker/lib/limits.ts";
import { type InviteInput, toInviteEvent, type UpdateInvite } from "./schemas.ts";
import { accountEvent, insertAccount, newAccount, standInEmail } from "#worker/services/accounts/account-rows.ts";
import {
  whereVersion,
  commit,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
} from "#worker/services/core/context.ts";
import { findBySource, planGrants, planTransition } from "#worker/services/subscriptions/entitlements.ts";
import { newIntent, type Redemption, voidIntents } from "#worker/services/auth/intent-rows.ts";
import { inInviteService } from "./failures.ts";
import { type Budgets, findWithin } from "#worker/services/core/limits.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { deleteRegisterInvite, endRegisterInvite } from "./register-invites.ts";
import { skusAt } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { getSite, requireAllowedUrl, requireOwnSite } from "#worker/services/sites/current-site.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import type { Invite } from "./invite-rows.ts";

const PURPOSE = "invite token";
const TOKEN_LENGTH = 6;
/** 131 bits. */
const LONG_TOKEN_LENGTH = 22;
const TOKEN_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TOKEN_TRIES = 3;
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 7 * DAY_MS;
const LONGEST_MS = 366 * DAY_MS;

const inviteList: ListSpec<InviteRow> = {
  table: invites,
  id: { by: invites.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(invites).$dynamic(), slice),
  sort: {
    created: { by: invites.created, of: (row) => row.created },
    modified: { by: invites.modified, of: (row) => row.modified },
    expiresAt: { by: invites.expires, of: (row) => row.expires },
  },
  defaultDirection: -1,
  search: { redirectUri: invites.redirectUri },
};

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

/** Makes a magic link; only whoever is handed it, and the site's keys, see its token. */
export async function createInvite(ctx: Ctx, input: InviteInput): Promise<Invite> {
  return inInviteService("Create", async () => {
    const columns = await columnsOf(ctx, input);
    const { longInviteTokens = false } = (await getSite(ctx)).settings.security;
    const length = longInviteTokens ? LONG_TOKEN_LENGTH : TOKEN_LENGTH;
    for (let tries = 0; tries < TOKEN_TRIES; tries++) {
      const token = randomCode(length, TOKEN_ALPHABET);
      const sealed = await sealToken(ctx.env, token);
      const row: InviteRow = { ...newRow(ctx), ...columns, ...sealed, consumedAt: null, revokedAt: null, accountId: null };
      const insert = ctx.db.insert(invites).values(row);
      const write = () => commitReferencing(ctx, skusAt("targetSkus", input.targetSkus), insert, inviteEvent("created", row));
      if (await wonRace(() => refuseDuplicate("invites.token_hash", "The token is taken", write))) return { ...row, token };
    }
    throw conflict("No free token was found; try again");
  });
}

/** The columns that hold a token: sealed to be shown again, and hashed under a key to be found. */
export async function sealToken(env: { TIFO_SECRET: string }, token: string): Promise<Pick<InviteRow, "tokenSealed" | "tokenHash">> {
  const [tokenHash] = await lookUpHashes(env, PURPOSE, token);
  return { tokenSealed: await seal(env, PURPOSE, token), tokenHash };
}

/** Replaces what an invite leads to and grants, as long as it is open. */
export async function updateInvite(ctx: Ctx, id: string, input: UpdateInvite): Promise<Invite> {
  return inInviteService("Update", async () => {
    const current = await readInvite(ctx, id);
    requireUnsettled(current);
    const next: InviteRow = { ...current, ...(await columnsOf(ctx, input, current.expires)), ...nextVersion(ctx, current) };
    const references = newReferences(skusAt("targetSkus", input.targetSkus), skusAt("targetSkus", current.targetSkus));
    const change = ctx.db
      .update(invites)
      .set(next)
      .where(and(whereVersion(ctx, invites, current), referencesExist(ctx, references)));
    await withReferences(ctx, references, () => commitIfUnchanged(ctx, change, inviteEvent("updated", next)));
    return withToken(ctx, next);
  });
}

/** Deletes an invite of either kind that nobody holds anything by: a link that was redeemed is to be revoked first. */
export async function deleteInvite(ctx: Ctx, id: string): Promise<{ id: string }> {
  return inInviteService("Delete", async () => {
    const current = await findInvite(ctx, id);
    if (!current) return deleteRegisterInvite(ctx, id);
    requireMatch(ctx, current);
    if (current.accountId !== null && current.revokedAt === null) {
      throw conflict("The invite has been redeemed; revoke it, which takes away what it granted");
    }
    const change = ctx.db.delete(invites).where(whereVersion(ctx, invites, current));
    await commitIfUnchanged(ctx, [change, voidIntents(ctx, id)], inviteEvent("deleted", current));
    return current;
  });
}

/** Ends an invite. An invitation by e-mail can be accepted no more. Of a link: unredeemed, its link lets nobody in any more; redeemed, what it granted is taken away. The record stays. */
export function revokeInvite(ctx: Ctx, id: string): Promise<Invite | RegisterInviteRow> {
  return inInviteService("Revoke", () => endInvite(ctx, id));
}

async function endInvite(ctx: Ctx, id: string): Promise<Invite | RegisterInviteRow> {
  const current = await findInvite(ctx, id);
  if (!current) return endRegisterInvite(ctx, id);
  if (current.revokedAt !== null) throw conflict("The invite has been revoked already");
  const next: InviteRow = { ...current, revokedAt: ctx.now, ...nextVersion(ctx, current) };
  const held = await findBySource(ctx, sourceOf(current));
  const granted = await planTransition(ctx, sourceOf(current), "remove");
  const change = ctx.db
    .update(invites)
    .set(next)
    .where(and(whereVersion(ctx, invites, current), areAsRead(ctx, sourceOf(current), held)));
  const changes = [change, voidIntents(ctx, id), ...granted.changes];
  const first = await wonRace(() => commitIfUnchanged(ctx, changes, inviteEvent("revoked", next), ...granted.events));
  return first ? withToken(ctx, next) : endInvite(ctx, id);
}

/**
 * Somebody opens a magic link: answers where to send them, with an intent of 10 minutes that signs them in once. Until an intent is
 * redeemed the link may be opened again, so a scanner that follows links burns nothing.
 */
export async function openInvite(ctx: Ctx, token: string, address: string): Promise<string> {
  // Whose site it is becomes known with the invite: misses are counted for the whole deployment.
  const everywhere: Ctx = { ...ctx, siteId: GLOBAL_AUDIENCE };
  const own: Slot[] = [{ name: "missLink", key: address }];
  // Nobody guesses a long one, so no flood of guesses stops it.
  const budgets: Budgets = token.length > TOKEN_LENGTH ? { own } : { own, all: "guessLink", most: "guessLinkAtMost" };
  const invite = await findWithin(everywhere, budgets, () => findByToken(ctx, token));
  if (!invite) throw notFound("Invite not found");
  return inInviteService("Consume", () => issueIntent({ ...ctx, siteId: invite.siteId }, invite));
}

async function issueIntent(ctx: Ctx, invite: InviteRow): Promise<string> {
  requireOpen(ctx, invite);
  // The site may have taken the origin off its list since; the intent would sign in whoever has it now.
  await requireAllowedUrl(ctx, "redirectUri", invite.redirectUri);
  const intent = await newIntent(ctx, { kind: "invite", accountId: null, sourceId: invite.id, data: {} });
  if (invite.consumedAt !== null) await commit(ctx, intent.insert);
  else {
    const consumed: InviteRow = { ...invite, consumedAt: ctx.now, modified: ctx.now, version: invite.version + 1 };
    const change = ctx.db
      .update(invites)
      .set(consumed)
      .where(whereVersion(ctx, invites, invite));
    const first = await wonRace(() => commitIfUnchanged(ctx, [change, intent.insert], inviteEvent("consumed", consumed)));
    if (!first) return issueIntent(ctx, await readInvite(ctx, invite.id));
  }
  const target = new URL(invite.redirectUri);
  target.searchParams.set("intent", intent.token);
  return target.href;
}

/** What an invite's intent comes to: a guest account that holds the invite's skus. Of several intents of one invite, one is redeemed. */
export async function redeemInvite(ctx: Ctx, intent: IntentRow): Promise<Redemption> {
  return inInviteService("Consume", async () => {
    const invite = await readInvite(ctx, intent.sourceId ?? "");
    requireOpen(ctx, invite, invite.consumedAt ?? ctx.now);
    const guest = { email: standInEmail(invite.id), name: "Guest", marketingOptin: false };
    const account = { ...(await newAccount(ctx, guest, [])), trusted: true };
    const redemption = { accountId: account.id, modified: ctx.now, version: invite.version + 1 };
    const change = ctx.db
      .update(invites)
      .set(redemption)
      .where(whereVersion(ctx, invites, invite));
    const grant = { accountId: account.id, skus: invite.targetSkus, grantedMethod: "customerService" as const, source: sourceOf(invite) };
    const grants = planGrants(ctx, grant, []);
    return {
      account,
      service: "invite-service-v1",
      thirdPartyAccountId: null,
      holds: exists(
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
  if (input.expiresAt !== undefined && (expiresAt <= ctx.now || expiresAt > ctx.now + LONGEST_MS)) {
    throw invalid("expiresAt", "In the future, and at most a year from now");
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
  const [invite] = await ctx.db.select().from(invites).where(inArray(invites.tokenHash, hashes));
  return invite;
}

async function withToken(ctx: Ctx, row: InviteRow): Promise<Invite> {
  return { ...row, token: await open(ctx.env, PURPOSE, row.tokenSealed) };
}

function requireUnsettled(invite: InviteRow): void {
  if (invite.revokedAt !== null) throw conflict("The invite has been revoked");
  if (invite.accountId !== null) throw conflict("The invite has been redeemed already");
}

/** `at`: when its link was opened, which must have been in time. */
function requireOpen(ctx: Ctx, invite: InviteRow, at = ctx.now): void {
  requireUnsettled(invite);
  if (invite.expires <= at) throw conflict("The invite has expired");
}

/** Whether what was granted for a source is as it was read: then the changes that were planned for it find what they are meant for. */
function areAsRead(ctx: Ctx, source: string, rows: EntitlementRow[]): SQL {
  const { id, siteId, source: ofSource, version } = accountEntitlements;
  const known = JSON.stringify(rows.map((row) => `${row.id}:${row.version}`));
  return sql`not exists (select 1 from ${accountEntitlements} where ${siteId} = ${ctx.siteId} and ${ofSource} = ${source}
    and ${id} || ':' || ${version} not in (select value from json_each(${known})))`;
}

/** By which its entitlements are found again. */
function sourceOf(invite: InviteRow): string {
  return `invite/${invite.id}`;
}

function inviteEvent(change: "created" | "updated" | "deleted" | "revoked" | "consumed" | "redeemed", invite: InviteRow): NewEvent {
  return { type: `invite.${change}`, resource: `invite/${invite.id}`, data: toInviteEvent(invite) };
}
