import { and, eq, isNull, lt } from "drizzle-orm";
import { createDb } from "../../db/client.ts";
import { accounts, registerInvites } from "../../db/schema/index.ts";
import type { AccountRole } from "../../db/types.ts";
import type { LogEntry } from "../durable-objects/site-log.protocol.ts";
import { conflict, Failure, forbidden, invalid, notFound } from "../lib/errors.ts";
import { keyAllows } from "../lib/roles.ts";
import { readSigned, signContent } from "../lib/signed.ts";
import type { AccountRow } from "../routes/accounts/schemas.ts";
import { type AcceptInvite, type RegisterInviteInput, type RegisterInviteRow, toRegisterInviteEvent } from "../routes/invites/schemas.ts";
import { accountEvent, getAccount, insertAccount, newAccount, normalizeEmail, refuseStandIn, refuseTakenEmail } from "./accounts.ts";
import { commit, commitIfCurrent, type Ctx, newRow, ownRow } from "./context.ts";
import { inInviteService } from "./invite-failures.ts";
import { mailableName, sendMail } from "./mail.ts";
import { readForRoles, requireGrantable } from "./roles.ts";
import { getSite, requireAllowedUrl } from "./sites.ts";

const PURPOSE = "register invite";
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 7 * DAY_MS;
const KEPT_MS = 30 * DAY_MS;

/** Invites somebody by e-mail to an account with roles; the mail follows from the event. */
export async function createRegisterInvite(ctx: Ctx, input: RegisterInviteInput): Promise<RegisterInviteRow> {
  return inInviteService("Create", async () => {
    const { senderAccountId, targetRoles } = input;
    const email = normalizeEmail(input.email);
    refuseStandIn(email);
    await requireSender(ctx, senderAccountId);
    await requireNewcomer(ctx, email, targetRoles);
    const redirectUri = await landingPage(ctx, input.redirectUri);
    const row: RegisterInviteRow = {
      ...newRow(ctx),
      email,
      senderAccountId,
      targetRoles,
      redirectUri,
      expires: ctx.now + LIFETIME_MS,
      sent: false,
      accountId: null,
    };
    const event = { type: "invite.registerCreated", resource: `invite/${row.id}`, data: toRegisterInviteEvent(row) };
    await commit(ctx, ctx.db.insert(registerInvites).values(row), event);
    return row;
  });
}

/** Becomes an account by an invitation: whoever has its link proves to have the e-mail. */
export async function acceptRegisterInvite(ctx: Ctx, token: string, input: AcceptInvite): Promise<AccountRow> {
  await ctx.caller();
  return inInviteService("Accept", async () => {
    const invite = await findInvite(ctx, token);
    await requireNewcomer(ctx, invite.email, invite.targetRoles);
    const person = { ...input, email: invite.email, marketingOptin: false };
    const account = await newAccount(ctx, person, invite.targetRoles);
    const claim = ctx.db
      .update(registerInvites)
      .set({ accountId: account.id, modified: ctx.now, version: invite.version + 1 })
      .where(and(ownRow(ctx, registerInvites, invite.id), isNull(registerInvites.accountId)));
    const event = {
      type: "invite.registerAccepted",
      resource: `invite/${invite.id}`,
      data: { ...toRegisterInviteEvent(invite), accountId: account.id },
    };
    await refuseTakenEmail(() =>
      commitIfCurrent(ctx, [claim, ...insertAccount(ctx, account)], event, accountEvent("new_account", account)),
    );
    // Whether its roles made it part of a global account is known to the database alone.
    return getAccount(ctx, account.id);
  });
}

/** Mails the link, which no event holds: its token is the invite's id, signed. */
export async function mailRegisterInvite(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const db = createDb(env.DB);
  const id = event.resource.slice("invite/".length);
  const [found] = await db
    .select({ email: registerInvites.email, redirectUri: registerInvites.redirectUri, senderName: accounts.name })
    .from(registerInvites)
    .leftJoin(accounts, eq(accounts.id, registerInvites.senderAccountId))
    .where(and(eq(registerInvites.siteId, siteId), eq(registerInvites.id, id), isNull(registerInvites.accountId)));
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
  const [invite] = await ctx.db
    .select()
    .from(registerInvites)
    .where(ownRow(ctx, registerInvites, id));
  if (!invite) throw notFound("Invite not found");
  if (invite.accountId !== null) throw conflict("The invite has been accepted already");
  if (invite.expires <= ctx.now) throw conflict("The invite has expired");
  return invite;
}

/** An account of the site; a signed-in admin invites in no other's name, and a key must be one that may give roles. */
async function requireSender(ctx: Ctx, senderAccountId: string): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind === "developer" && !keyAllows(actor.roles, "account", "write")) {
    throw forbidden("The developer key lacks the role account:write, without which it gives nobody roles");
  }
  if (actor.kind === "account" && actor.id !== senderAccountId) throw invalid("senderAccountId", "Must be your own account");
  const [sender] = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(ownRow(ctx, accounts, senderAccountId));
  if (!sender) throw invalid("senderAccountId", "No such account");
}

/** Nobody has an account with this e-mail yet, and the site lets such roles be given: asked when it is sent and when it is accepted. */
async function requireNewcomer(ctx: Ctx, email: string, targetRoles: AccountRole[]): Promise<void> {
  const which = and(eq(accounts.siteId, ctx.siteId), eq(accounts.email, email));
  const { account, rules } = await readForRoles(ctx, which, targetRoles);
  if (account) throw conflict("An account with this e-mail exists");
  try {
    requireGrantable(rules, undefined, targetRoles);
  } catch (error) {
    // Not the caller is refused here but the invite.
    throw error instanceof Failure ? conflict(error.message) : error;
  }
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
