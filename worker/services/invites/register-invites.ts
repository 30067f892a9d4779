import { and, eq, exists, getTableColumns, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { siteDb } from "#db/databases.ts";
import { type AccountRow, accounts } from "#db/schema/accounts.ts";
import { type RegisterInviteRow, registerInvites } from "#db/schema/invites.ts";
import type { AccountRole } from "#db/types.ts";
import { wonRace, conflict, Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { addsRoles } from "#worker/lib/roles.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import { type AcceptInvite, REGISTER_INVITE_FIELDS, type RegisterInviteInput, toRegisterInviteEvent } from "./schemas.ts";
import { replaceAccount } from "#worker/services/accounts/accounts.ts";
import {
  accountEvent,
  insertAccount,
  nameColumns,
  newAccount,
  newPassword,
  normalizeEmail,
  rejectPlaceholderEmail,
  rejectTakenEmail,
} from "#worker/services/accounts/account-rows.ts";
import {
  type Actor,
  commit,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  whereVersion,
} from "#worker/services/core/context.ts";
import { voidCredentials } from "#worker/services/accounts/credentials.ts";
import { verifiedEvent } from "#worker/services/accounts/email-proofs.ts";
import { idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { inInviteService } from "./failures.ts";
import { mailableName, sendMail } from "#worker/services/custom-email/mail.ts";
import { pickFields } from "#worker/services/core/fields.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import {
  administersSite,
  effectiveRoles,
  readForRoles,
  requireAllowedRoleChange,
  requireCanGrantRoles,
  type RoleRules,
  withExistingPages,
} from "#worker/services/accounts/role-rules.ts";
import { getSite, isStudioPage, requireAllowedUrl } from "#worker/services/sites/current-site.ts";

const PURPOSE = "register invite";
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 7 * DAY_MS;
const RETENTION_MS = 30 * DAY_MS;
const MAX_ATTEMPTS = 5;

/** Invites a person by email to create an account with roles. The event's effect sends the email. */
export async function createRegisterInvite(ctx: Ctx, input: RegisterInviteInput, apiOrigin: string): Promise<RegisterInviteRow> {
  return inInviteService("Create", async () => {
    const { senderAccountId, targetRoles } = input;
    const email = normalizeEmail(input.email);
    rejectPlaceholderEmail(email);
    const actor = await requireSender(ctx, senderAccountId);
    const { account: known, rules } = await readGrantee(ctx, email, targetRoles);
    await requireGrantable(ctx, rules, targetRoles);
    // Anybody can sign up with somebody else's address, so only an account with a verified address prevents an invitation.
    if (known && known.emailVerified !== null) throw conflict("An account with this email exists");
    const redirectUri = await landingPage(ctx, input.redirectUri, apiOrigin);
    const row: RegisterInviteRow = {
      ...newRow(ctx),
      email,
      senderAccountId,
      targetRoles,
      redirectUri,
      expires: ctx.now + LIFETIME_MS,
      sent: false,
      bySender: actor.kind === "account",
      revokedAt: null,
      accountId: null,
    };
    await commit(ctx, [...supersede(ctx, actor, email), ctx.db.insert(registerInvites).values(row)], inviteEvent("Created", row));
    return row;
  });
}

/** A new invitation replaces the person's open ones, so that only the latest roles apply. */
function supersede(ctx: Ctx, actor: Actor, email: string): BatchItem<"sqlite">[] {
  const { siteId, accountId, revokedAt } = registerInvites;
  const open = and(eq(siteId, ctx.siteId), eq(registerInvites.email, email), isNull(accountId), isNull(revokedAt));
  const eventInsert = insertEventsForRows(ctx, actor, {
    ...{ type: "invite.registerRevoked", area: "invite", table: registerInvites, where: open },
    data: { ...pickFields(getTableColumns(registerInvites), REGISTER_INVITE_FIELDS), revoked: true, modified: ctx.now },
  });
  const revoked = ctx.db
    .update(registerInvites)
    .set({ revokedAt: ctx.now, modified: ctx.now, version: sql`${registerInvites.version} + 1` })
    .where(open);
  return [eventInsert, revoked];
}

/** Revokes an invitation that has not been accepted yet. */
export async function revokeRegisterInvite(ctx: Ctx, id: string): Promise<RegisterInviteRow> {
  const current = await readInvite(ctx, id);
  if (current.accountId !== null) throw conflict("The invite has already been accepted; remove the account's roles instead");
  if (current.revokedAt !== null) throw conflict(REVOKED);
  const next: RegisterInviteRow = { ...current, revokedAt: ctx.now, ...nextVersion(ctx, current) };
  const change = ctx.db
    .update(registerInvites)
    .set({ revokedAt: next.revokedAt, modified: next.modified, version: next.version })
    .where(whereVersion(ctx, registerInvites, current));
  await commitIfUnchanged(ctx, change, inviteEvent("Revoked", next));
  return next;
}

/** Deletes an invitation. The account of an accepted one stays. */
export async function deleteRegisterInvite(ctx: Ctx, id: string): Promise<RegisterInviteRow> {
  const current = await readInvite(ctx, id);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, registerInvites, current);
  await commitIfUnchanged(ctx, change, inviteEvent("Deleted", current));
  return current;
}

const REVOKED = "The invite has already been revoked";

function inviteEvent(change: "Created" | "Revoked" | "Deleted", invite: RegisterInviteRow): NewEvent {
  return { type: `invite.register${change}`, resource: `invite/${invite.id}`, data: toRegisterInviteEvent(invite) };
}

/**
 * Accepts an invitation: having the link proves ownership of the address. An account that has been created with it in the meantime
 * is handed over: it gets the roles and its old credentials are voided, so nobody can block an invitation by signing up first.
 */
export async function acceptRegisterInvite(ctx: Ctx, token: string, input: AcceptInvite): Promise<AccountRow> {
  return inInviteService("Accept", async () => {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const invite = await findInvite(ctx, token);
      const { account: current, rules } = await readGrantee(ctx, invite.email, invite.targetRoles);
      const roles = withExistingPages(invite.targetRoles, rules);
      if (roles.length === 0) throw conflict("The channels of the invite have been deleted");
      await requireGrantable(ctx, rules, roles);
      const { account, claimable, changes, events } = await (current
        ? takeOver(ctx, current, roles, input)
        : join(ctx, invite.email, roles, input));
      const claim = ctx.db
        .update(registerInvites)
        .set({ accountId: account.id, modified: ctx.now, version: invite.version + 1 })
        .where(and(whereVersion(ctx, registerInvites, invite), claimable));
      const accepted: NewEvent<"invite.registerAccepted"> = {
        type: "invite.registerAccepted",
        resource: `invite/${invite.id}`,
        data: { ...toRegisterInviteEvent(invite), accountId: account.id },
      };
      const write = () => rejectTakenEmail(() => commitIfUnchanged(ctx, [claim, ...changes], accepted, ...events));
      // Something was changed, created or accepted concurrently: the next attempt reads it again.
      if (await wonRace(write)) return account;
    }
    throw conflict("The account changed while the invite was being accepted; try again");
  });
}

interface Acceptance {
  account: AccountRow;
  /** The condition under which the changes may be written. */
  claimable?: SQL;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

async function join(ctx: Ctx, email: string, roles: AccountRole[], input: AcceptInvite): Promise<Acceptance> {
  const fresh = await newAccount(ctx, { ...input, email, marketingOptin: false }, roles);
  const account = { ...fresh, emailVerified: ctx.now, trusted: true };
  return { account, changes: insertAccount(ctx, account), events: [accountEvent("new_account", account)] };
}

async function takeOver(ctx: Ctx, current: AccountRow, roles: AccountRole[], { name, password }: AcceptInvite): Promise<Acceptance> {
  const voided = voidCredentials(ctx, current, current.trusted ? current.thirdPartyAuthProviders : []);
  const account: AccountRow = {
    ...current,
    ...nameColumns(name),
    ...voided.columns,
    ...(await newPassword(password, current)),
    roles: [...current.roles, ...roles.filter((role) => addsRoles(current.roles, [role]))],
    emailVerified: current.emailVerified ?? ctx.now,
    modified: ctx.now,
    version: current.version + 1,
  };
  const verified = current.emailVerified === null ? [verifiedEvent(ctx, current.id, "invite")] : [];
  return {
    account,
    claimable: exists(
      ctx.db
        .select({ id: accounts.id })
        .from(accounts)
        .where(whereVersion(ctx, accounts, current)),
    ),
    changes: [...replaceAccount(ctx, current, account), ...voided.changes],
    events: [accountEvent("account.updated", account), ...verified, ...voided.events],
  };
}

/** Mails the link. No event contains its token, which is the signed id of the invite. */
export async function mailRegisterInvite(env: Env, siteId: string, event: LoggedEvent<"invite.registerCreated">): Promise<void> {
  const db = siteDb(env, siteId);
  const id = idOf(event);
  const [found] = await db
    .select({ email: registerInvites.email, redirectUri: registerInvites.redirectUri, senderName: accounts.name })
    .from(registerInvites)
    .leftJoin(accounts, eq(accounts.id, registerInvites.senderAccountId))
    .where(
      and(
        eq(registerInvites.siteId, siteId),
        eq(registerInvites.id, id),
        isNull(registerInvites.accountId),
        isNull(registerInvites.revokedAt),
      ),
    );
  if (!found) return;
  const link = new URL(found.redirectUri);
  link.searchParams.set("token", await signContent(env, PURPOSE, id));
  const data = { senderName: mailableName(found.senderName ?? "", "An admin"), link: link.href };
  await sendMail(env, siteId, { template: "registerInvite", to: found.email, data }, event.id);
  await db.update(registerInvites).set({ sent: true }).where(eq(registerInvites.id, id));
}

/** Deletes invitations that were not accepted, 30 days after they expire. */
export async function pruneRegisterInvites(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(registerInvites).where(and(lt(registerInvites.expires, ctx.now - RETENTION_MS), isNull(registerInvites.accountId)));
}

async function findInvite(ctx: Ctx, token: string): Promise<RegisterInviteRow> {
  const id = await readSigned(ctx.env, PURPOSE, token);
  if (id === undefined) throw notFound("Invite not found");
  const invite = await readInvite(ctx, id);
  if (invite.accountId !== null) throw conflict("The invite has already been accepted");
  if (invite.revokedAt !== null) throw conflict(REVOKED);
  if (invite.expires <= ctx.now) throw conflict("The invite has expired");
  if (invite.bySender) await requireSenderIsAdmin(ctx, invite.senderAccountId);
  return invite;
}

/** An invitation grants roles only while its sender may still grant them. */
async function requireSenderIsAdmin(ctx: Ctx, senderAccountId: string): Promise<void> {
  const [sender] = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(ownRow(ctx, accounts, senderAccountId), administersSite("write", effectiveRoles)));
  if (!sender) throw conflict("The sender of the invite no longer administers the site");
}

async function readInvite(ctx: Ctx, id: string): Promise<RegisterInviteRow> {
  const [invite] = await ctx.db
    .select()
    .from(registerInvites)
    .where(ownRow(ctx, registerInvites, id));
  if (!invite) throw notFound("Invite not found");
  return invite;
}

/** Checks that the sender is an account of the site (a signed-in admin: their own) and that a key may grant roles. */
async function requireSender(ctx: Ctx, senderAccountId: string): Promise<Actor> {
  const actor = await ctx.caller();
  await requireCanGrantRoles(ctx);
  if (actor.kind === "account" && actor.id !== senderAccountId) throw invalid("senderAccountId", "Must be your own account");
  const [sender] = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(ownRow(ctx, accounts, senderAccountId));
  if (!sender) throw invalid("senderAccountId", "No such account");
  return actor;
}

/** The account with this email, if any, and the rules for giving it the roles. */
function readGrantee(ctx: Ctx, email: string, roles: AccountRole[]): ReturnType<typeof readForRoles> {
  return readForRoles(ctx, and(eq(accounts.siteId, ctx.siteId), eq(accounts.email, email)), roles);
}

/** Checks that the roles may be given, both when an invitation is sent and when it is accepted. */
async function requireGrantable(ctx: Ctx, rules: RoleRules, roles: AccountRole[]): Promise<void> {
  try {
    await requireAllowedRoleChange(ctx, rules, undefined, roles);
  } catch (error) {
    // The invite is at fault here, not the caller.
    throw error instanceof Failure ? conflict(error.message) : error;
  }
}

/** The page that the link opens; by default the first of the site's allowed origins. Studio's own page is always allowed. */
async function landingPage(ctx: Ctx, redirectUri: string | undefined, apiOrigin: string): Promise<string> {
  if (redirectUri !== undefined) {
    if (!isStudioPage(ctx, redirectUri, apiOrigin, "join")) await requireAllowedUrl(ctx, "redirectUri", redirectUri);
    return redirectUri;
  }
  const [origin] = (await getSite(ctx)).settings.security.allowedOrigins;
  if (origin === undefined) throw invalid("redirectUri", "Required, because the site's settings.security.allowedOrigins is empty");
  return origin;
}
