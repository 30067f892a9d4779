import { eq } from "drizzle-orm";
import { connectedAccounts, type ConnectionRow } from "#db/schema/commerce/billing.ts";
import { type AccountLink, createAccount, createAccountLink, retrieveAccount } from "#worker/integrations/stripe-accounts.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import { wonRace, conflict, Failure, rejectDuplicate } from "#worker/lib/errors.ts";
import { type ConnectInput, toConnection, toConnectionEvent } from "./connect-schemas.ts";
import { commit, commitIfUnchanged, type Ctx, deleteRow, type NewEvent, newRow, updateRow } from "#worker/services/core/context.ts";
import { ctxOf, fromEveryDb } from "#worker/services/core/databases.ts";
import { detachRecurring } from "./recurring.ts";
import { requireAllowedUrl } from "#worker/services/sites/current-site.ts";

const ATTEMPTS = 3;

/**
 * Creates a link with which the site's owner connects the site's Stripe account. The account is always one that we created for this site: nobody
 * can name an account. Every step can be repeated, so the Idempotency-Key isn't marked as used before the response.
 */
export async function connectAccount(keyed: Ctx, urls: ConnectInput): Promise<AccountLink> {
  const ctx: Ctx = { ...keyed, idempotencyId: undefined };
  await ctx.caller();
  requireStripe(ctx.env);
  await requireAllowedUrl(ctx, "returnUrl", urls.returnUrl);
  await requireAllowedUrl(ctx, "refreshUrl", urls.refreshUrl);
  const connection = (await findConnection(ctx)) ?? (await insertConnection(ctx));
  const { stripeAccount } = connection.stripeAccount === null ? await insertAccount(ctx, connection) : connection;
  if (stripeAccount === null) throw new Failure("unavailable", "The account is being created by another request; try again");
  return createAccountLink(ctx.env, stripeAccount, urls);
}

/** The site's connection as Stripe describes it now; undefined without one. */
export async function readConnection(ctx: Ctx): Promise<ConnectionRow | undefined> {
  const found = await findConnection(ctx);
  await ctx.caller();
  requireStripe(ctx.env);
  return found && syncConnection(asSystem(ctx), found);
}

export async function findConnection(ctx: Ctx): Promise<ConnectionRow | undefined> {
  const [found] = await ctx.db.select().from(connectedAccounts).where(eq(connectedAccounts.siteId, ctx.siteId));
  return found;
}

/** The Stripe account that the site's buyers pay; a 409 if the site has none or it can't take payments yet. */
export async function requireChargeableAccount(ctx: Ctx): Promise<string> {
  const { stripeAccount, row } = await requireAccount(ctx);
  // An account from an old setting, which was never synced with Stripe.
  const { chargesEnabled } = row.synced === null ? await syncConnection(asSystem(ctx), row) : row;
  if (!chargesEnabled) throw conflict("The site's Stripe account can't take payments yet; GET /billing/v1/connect returns what is missing");
  return stripeAccount;
}

/** The site's Stripe account; a 409 without one. */
export async function requireAccount(ctx: Ctx): Promise<{ stripeAccount: string; row: ConnectionRow }> {
  const row = await findConnection(ctx);
  if (!row || row.stripeAccount === null) throw conflict("The site has no Stripe account; connect one with POST /billing/v1/connect");
  return { stripeAccount: row.stripeAccount, row };
}

/** Handles Stripe's report of a changed account: fetches and stores its current state. */
export async function syncAccount(ctx: Ctx, stripeAccount: string): Promise<void> {
  const found = await findByAccount(ctx, stripeAccount);
  if (found) await syncConnection(asSystem(ctx, found.siteId), found);
}

/** Handles Stripe's report that an owner revoked the platform's access: if Stripe confirms it, disconnects the account. */
export async function disconnectAccount(ctx: Ctx, stripeAccount: string): Promise<void> {
  const found = await findByAccount(ctx, stripeAccount);
  if (!found || (await retrieveAccount(ctx.env, stripeAccount)) !== undefined) return;
  const own = asSystem(ctx, found.siteId);
  const change = deleteRow(own, connectedAccounts, found);
  const changes = [change, ...(await detachRecurring(own, stripeAccount))];
  await commitIfUnchanged(own, changes, eventOf("billing.accountDisconnected", disconnected(found)));
}

function disconnected(row: ConnectionRow): ConnectionRow {
  return { ...row, chargesEnabled: false, payoutsEnabled: false };
}

/** Inserts a connection without an account; its id makes the creation of the account idempotent, also for concurrent requests. */
async function insertConnection(ctx: Ctx): Promise<ConnectionRow> {
  const row: ConnectionRow = {
    ...newRow(ctx),
    stripeAccount: null,
    chargesEnabled: false,
    payoutsEnabled: false,
    detailsSubmitted: false,
    requirements: { currentlyDue: [], pastDue: [], disabledReason: null },
    synced: null,
  };
  await commit(ctx, ctx.db.insert(connectedAccounts).values(row).onConflictDoNothing());
  return (await findConnection(ctx)) ?? row;
}

async function insertAccount(ctx: Ctx, connection: ConnectionRow): Promise<ConnectionRow> {
  const { id: stripeAccount, ...state } = await createAccount(ctx.env, { connectionId: connection.id, siteId: ctx.siteId });
  const next: ConnectionRow = {
    ...connection,
    ...state,
    stripeAccount,
    synced: ctx.now,
    modified: ctx.now,
    version: connection.version + 1,
  };
  const change = updateRow(ctx, connectedAccounts, connection, next);
  const write = () => commitIfUnchanged(ctx, change, eventOf("billing.accountCreated", next));
  const first = await rejectDuplicate("connected_accounts.stripe_account", "This Stripe account belongs to another site", () =>
    wonRace(write),
  );
  // The winner of the race stored the same account: Stripe creates one per connection.
  return first ? next : ((await findConnection(ctx)) ?? next);
}

/** Fetches the account from Stripe and stores changes; the loser of a race fetches again, so that the latest state wins. */
async function syncConnection(ctx: Ctx, known: ConnectionRow): Promise<ConnectionRow> {
  let row: ConnectionRow | undefined = known;
  for (let attempt = 1; row && attempt <= ATTEMPTS; attempt++) {
    if (row.stripeAccount === null) return row;
    const found = await retrieveAccount(ctx.env, row.stripeAccount);
    if (!found) throw new Failure("unavailable", "Stripe denies access to the site's account");
    const { id: stripeAccount, ...state } = found;
    const next: ConnectionRow = { ...row, ...state, stripeAccount, synced: ctx.now, modified: ctx.now, version: row.version + 1 };
    if (row.synced !== null && JSON.stringify(toConnection(row)) === JSON.stringify(toConnection(next))) return row;
    const change = updateRow(ctx, connectedAccounts, row, next);
    if (await wonRace(() => commitIfUnchanged(ctx, change, eventOf("billing.accountUpdated", next)))) return next;
    row = await findConnection(ctx);
  }
  throw new Failure("unavailable", "The Stripe account is changing too often; try again");
}

async function findByAccount(ctx: Ctx, stripeAccount: string): Promise<ConnectionRow | undefined> {
  const isNamed = eq(connectedAccounts.stripeAccount, stripeAccount);
  const [found] = await fromEveryDb(ctx, (db) => db.select().from(connectedAccounts).where(isNamed));
  return found;
}

type ConnectionEvent = "billing.accountCreated" | "billing.accountUpdated" | "billing.accountDisconnected";

function eventOf(type: ConnectionEvent, row: ConnectionRow): NewEvent {
  return { type, resource: `stripeaccount/${row.id}`, data: toConnectionEvent(row) };
}

/** Changes reported by Stripe have the actor `system`, regardless of the caller. */
function asSystem(ctx: Ctx, siteId = ctx.siteId): Ctx {
  const own = siteId === ctx.siteId ? ctx : ctxOf(ctx, siteId);
  return { ...own, idempotencyId: undefined, caller: () => Promise.resolve({ kind: "system" }) };
}
