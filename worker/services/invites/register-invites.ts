import { and, eq, exists, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { createDb } from "#db/client.ts";
import { type AccountRow, accounts, type RegisterInviteRow, registerInvites } from "#db/schema/index.ts";
import type { AccountRole } from "#db/types.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { wonRace, conflict, Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { addsRoles } from "#worker/lib/roles.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import { type AcceptInvite, type RegisterInviteInput, toRegisterInviteEvent } from "./schemas.ts";
import { replaceAccount } from "#worker/services/accounts/accounts.ts";
import {
  accountEvent,
  insertAccount,
  naming,
  newAccount,
  newPassword,
  normalizeEmail,
  refuseStandIn,
  refuseTakenEmail,
} from "#worker/services/accounts/account-rows.ts";
import {
  type Actor,
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
import { voidCredentials } from "#worker/services/accounts/credentials.ts";
import { verifiedEvent } from "#worker/services/accounts/email-proofs.ts";
import { inInviteService } from "./failures.ts";
import { mailableName, sendMail } from "#worker/services/custom-email/mail.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { administersSite, readForRoles, requireGrantable, requireRoleKey } from "#worker/services/accounts/role-rules.ts";
import { getSite, requireAllowedUrl } from "#worker/services/sites/current-site.ts";

const PURPOSE = "register invite";
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 7 * DAY_MS;
const KEPT_MS = 30 * DAY_MS;
const MOST_ATTEMPTS = 5;

/** Invites somebody by e-mail to an account with roles; the mail follows from the event. */
export async function createRegisterInvite(ctx: Ctx, input: RegisterInviteInput): Promise<RegisterInviteRow> {
  return inInviteService("Create", async () => {
    const { senderAccountId, targetRoles } = input;
    const email = normalizeEmail(input.email);
    refuseStandIn(email);
    const actor = await requireSender(ctx, senderAccountId);
    const known = await readGrantee(ctx, email, targetRoles);
    // Anybody can sign up under an address that isn't theirs: only its owner's account stands in the way.
    if (known && known.emailVerified !== null) throw conflict("An account with this e-mail exists");
    const redirectUri = await landingPage(ctx, input.redirectUri);
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

/** Of a person's invitations the last one stands, with the roles that it names. */
function supersede(ctx: Ctx, actor: Actor, email: string): BatchItem<"sqlite">[] {
  const { id, siteId, senderAccountId, sent, targetRoles, expires, created, accountId, revokedAt } = registerInvites;
  const open = and(eq(siteId, ctx.siteId), eq(registerInvites.email, email), isNull(accountId), isNull(revokedAt));
  const eventInsert = insertEventsForRows(ctx, actor, {
    ...{ type: "invite.registerRevoked", area: "invite", table: registerInvites, where: open },
    data: {
      ...{ _id: id, siteId, senderAccountId, sent: sql`json(iif(${sent}, 'true', 'false'))`, revoked: sql`json('true')` },
      ...{ targetRoles: sql`json(${targetRoles})`, expiresAt: expires, created, modified: sql`${ctx.now}` },
    },
  });
  const revoked = ctx.db
    .update(registerInvites)
    .set({ revokedAt: ctx.now, modified: ctx.now, version: sql`${registerInvites.version} + 1` })
    .where(open);
  return [eventInsert, revoked];
}

/** Withdraws an invitation that nobody has accepted yet. */
export async function endRegisterInvite(ctx: Ctx, id: string): Promise<RegisterInviteRow> {
  const current = await readInvite(ctx, id);
  if (current.accountId !== null) throw conflict("The invite has been accepted already; take the account's roles away");
  if (current.revokedAt !== null) throw conflict(REVOKED);
  const next: RegisterInviteRow = { ...current, revokedAt: ctx.now, ...nextVersion(ctx, current) };
  const change = ctx.db
    .update(registerInvites)
    .set({ revokedAt: next.revokedAt, modified: next.modified, version: next.version })
    .where(whereVersion(ctx, registerInvites, current));
  await commitIfUnchanged(ctx, change, inviteEvent("Revoked", next));
  return next;
}

/** Deletes an invitation; the account that one became stays. */
export async function deleteRegisterInvite(ctx: Ctx, id: string): Promise<RegisterInviteRow> {
  const current = await readInvite(ctx, id);
  requireMatch(ctx, current);
  const change = ctx.db.delete(registerInvites).where(whereVersion(ctx, registerInvites, current));
  await commitIfUnchanged(ctx, change, inviteEvent("Deleted", current));
  return current;
}

const REVOKED = "The invite has been revoked already";

function inviteEvent(change: "Created" | "Revoked" | "Deleted", invite: RegisterInviteRow): NewEvent {
  return { type: `invite.register${change}`, resource: `invite/${invite.id}`, data: toRegisterInviteEvent(invite) };
}

/**
 * Accepts an invitation: whoever has its link proves to have the e-mail. An account that has the address by then becomes theirs, so that
 * nobody can block an invitation by signing up first: it gets the roles, and what signed it in before is void.
 */
export async function acceptRegisterInvite(ctx: Ctx, token: string, input: AcceptInvite): Promise<AccountRow> {
  await ctx.caller();
  return inInviteService("Accept", async () => {
    for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts += 1) {
      const invite = await findInvite(ctx, token);
      const current = await readGrantee(ctx, invite.email, invite.targetRoles);
      const { account, claimable, changes, events } = await (current ? takeOver(ctx, current, invite, input) : join(ctx, invite, input));
      const claim = ctx.db
        .update(registerInvites)
        .set({ accountId: account.id, modified: ctx.now, version: invite.version + 1 })
        .where(and(whereVersion(ctx, registerInvites, invite), claimable));
      const accepted = {
        type: "invite.registerAccepted",
        resource: `invite/${invite.id}`,
        data: { ...toRegisterInviteEvent(invite), accountId: account.id },
      };
      const write = () => refuseTakenEmail(() => commitIfUnchanged(ctx, [claim, ...changes], accepted, ...events));
      // Otherwise somebody else changed, created or accepted something meanwhile: the next look finds out what.
      if (await wonRace(write)) return account;
    }
    throw conflict("The account changed while the invite was being accepted; try again");
  });
}

interface Acceptance {
  account: AccountRow;
  /** What must hold for the changes to be right. */
  claimable?: SQL;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

async function join(ctx: Ctx, invite: RegisterInviteRow, input: AcceptInvite): Promise<Acceptance> {
  const fresh = await newAccount(ctx, { ...input, email: invite.email, marketingOptin: false }, invite.targetRoles);
  const account = { ...fresh, emailVerified: ctx.now, trusted: true };
  return { account, changes: insertAccount(ctx, account), events: [accountEvent("new_account", account)] };
}

async function takeOver(ctx: Ctx, current: AccountRow, invite: RegisterInviteRow, { name, password }: AcceptInvite): Promise<Acceptance> {
  const voided = voidCredentials(ctx, current, current.trusted ? current.thirdPartyAuthProviders : []);
  const account: AccountRow = {
    ...current,
    ...naming(name),
    ...voided.columns,
    ...(await newPassword(password, current)),
    roles: [...current.roles, ...invite.targetRoles.filter((role) => addsRoles(current.roles, [role]))],
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

/** Mails the link, which no event holds: its token is the invite's id, signed. */
export async function mailRegisterInvite(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const db = createDb(env.DB);
  const id = event.resource.slice("invite/".length);
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

/** Deletes invitations that nobody accepted, 30 days after they expire. */
export async function pruneRegisterInvites(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(registerInvites).where(and(lt(registerInvites.expires, ctx.now - KEPT_MS), isNull(registerInvites.accountId)));
}

async function findInvite(ctx: Ctx, token: string): Promise<RegisterInviteRow> {
  const id = await readSigned(ctx.env, PURPOSE, token);
  if (id === undefined) throw notFound("Invite not found");
  const invite = await readInvite(ctx, id);
  if (invite.accountId !== null) throw conflict("The invite has been accepted already");
  if (invite.revokedAt !== null) throw conflict(REVOKED);
  if (invite.expires <= ctx.now) throw conflict("The invite has expired");
  if (invite.bySender) await requireAdminStill(ctx, invite.senderAccountId);
  return invite;
}

/** What somebody may give no more, an invitation of theirs doesn't give either. */
async function requireAdminStill(ctx: Ctx, senderAccountId: string): Promise<void> {
  const [sender] = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(ownRow(ctx, accounts, senderAccountId), administersSite("write")));
  if (!sender) throw conflict("Whoever sent the invite administers the site no more");
}

async function readInvite(ctx: Ctx, id: string): Promise<RegisterInviteRow> {
  const [invite] = await ctx.db
    .select()
    .from(registerInvites)
    .where(ownRow(ctx, registerInvites, id));
  if (!invite) throw notFound("Invite not found");
  return invite;
}

/** An account of the site; a signed-in admin invites in no other's name, and a key must be one that may give roles. */
async function requireSender(ctx: Ctx, senderAccountId: string): Promise<Actor> {
  const actor = await ctx.caller();
  await requireRoleKey(ctx);
  if (actor.kind === "account" && actor.id !== senderAccountId) throw invalid("senderAccountId", "Must be your own account");
  const [sender] = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(ownRow(ctx, accounts, senderAccountId));
  if (!sender) throw invalid("senderAccountId", "No such account");
  return actor;
}

/** The account of this e-mail, if the site lets such roles be given to it: asked when the invitation is sent and when it is accepted. */
async function readGrantee(ctx: Ctx, email: string, targetRoles: AccountRole[]): Promise<AccountRow | undefined> {
  const which = and(eq(accounts.siteId, ctx.siteId), eq(accounts.email, email));
  const { account, rules } = await readForRoles(ctx, which, targetRoles);
  try {
    await requireGrantable(ctx, rules, undefined, targetRoles);
  } catch (error) {
    // Not the caller is refused here but the invite.
    throw error instanceof Failure ? conflict(error.message) : error;
  }
  return account;
}

/** The page that the link opens; without one, the first of those that the site allows. */
async function landingPage(ctx: Ctx, redirectUri: string | undefined): Promise<string> {
  if (redirectUri !== undefined) {
    await requireAllowedUrl(ctx, "redirectUri", redirectUri);
    return redirectUri;
  }
  const [origin] = (await getSite(ctx)).settings.security.allowedOrigins;
  if (origin === undefined) throw invalid("redirectUri", "Required, since the site's settings.security.allowedOrigins are empty");
  return origin;
}
