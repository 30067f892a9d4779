import { and, eq, isNull, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type AccountRow, intents, passwordResets, recoveryCodes, signInPlaces, totpSecrets } from "#db/schema/accounts.ts";
import { registerInvites } from "#db/schema/invites.ts";
import type { AccountRole, ThirdPartyProvider } from "#db/types.ts";
import { newId } from "#worker/lib/ids.ts";
import { addsRoles } from "#worker/lib/roles.ts";
import { writeLinks } from "./links.ts";
import type { Ctx, NewEvent } from "#worker/services/core/context.ts";
import { newPassword } from "./account-rows.ts";
import { canGrantRoles } from "./role-rules.ts";

/** Long enough for an email that its recipient didn't request and may not read at once. */
const NEW_PASSWORD_MS = 7 * 24 * 60 * 60 * 1000;

type Credentials = Pick<AccountRow, "passwordHash" | "passwordVersion" | "thirdPartyAuthProviders" | "trusted">;

/** How a change affects an account's credentials: columns of its row, and further statements and events for the batch. */
export interface CredentialChange {
  columns: Partial<Credentials>;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

type VoidRows = (ctx: Ctx, accountId: string) => BatchItem<"sqlite">;

/**
 * Credentials stored outside the account's row that `passwordVersion` doesn't void (as it does sessions, refresh tokens, TV codes and
 * reset links). An area that adds such a credential adds a line here.
 */
const VOID: VoidRows[] = [
  (ctx, id) => ctx.db.delete(totpSecrets).where(and(eq(totpSecrets.siteId, ctx.siteId), eq(totpSecrets.accountId, id))),
  (ctx, id) => ctx.db.delete(recoveryCodes).where(and(eq(recoveryCodes.siteId, ctx.siteId), eq(recoveryCodes.accountId, id))),
  (ctx, id) => ctx.db.delete(signInPlaces).where(and(eq(signInPlaces.audience, ctx.siteId), eq(signInPlaces.accountId, id))),
  (ctx, id) =>
    ctx.db
      .update(intents)
      .set({ consumed: ctx.now })
      .where(and(eq(intents.siteId, ctx.siteId), eq(intents.accountId, id), isNull(intents.consumed))),
  // An open invitation would become valid again as soon as its sender is an admin again.
  (ctx, id) =>
    ctx.db
      .update(registerInvites)
      .set({ revokedAt: ctx.now, modified: ctx.now, version: sql`${registerInvites.version} + 1` })
      .where(
        and(
          eq(registerInvites.siteId, ctx.siteId),
          eq(registerInvites.senderAccountId, id),
          eq(registerInvites.bySender, true),
          isNull(registerInvites.accountId),
          isNull(registerInvites.revokedAt),
        ),
      ),
];

/**
 * Voids every credential of an account, except the third-party sign-ins in `links`. Add the changes to the batch after the account's own
 * update. This is the only place that voids credentials.
 */
export function voidCredentials(ctx: Ctx, account: AccountRow, links: ThirdPartyProvider[] = []): CredentialChange {
  return {
    columns: {
      passwordHash: null,
      passwordVersion: account.passwordVersion + 1,
      thirdPartyAuthProviders: links,
      // Without credentials, none can be a stranger's.
      trusted: true,
    },
    changes: [...writeLinks(ctx, account.id, links), ...VOID.map((voidRows) => voidRows(ctx, account.id))],
    events: [voidedEvent(ctx, account.id, null)],
  };
}

/** What staff or a key change of an account; omitted fields stay. */
export interface StaffChange {
  roles: AccountRole[];
  password?: string | undefined;
  links?: ThirdPartyProvider[] | undefined;
}

/**
 * How an account's credentials change when staff or a key give it roles, a password or links. `trusted` means that they belong to the owner
 * of the address, who verified it, or were set by a caller who may grant roles. Anyone can sign up with someone else's address, so granting
 * roles to an untrusted account voids all credentials but those in the same request, and mails the owner a link to choose a new password.
 */
export async function planCredentials(ctx: Ctx, account: AccountRow, { roles, password, links }: StaffChange): Promise<CredentialChange> {
  const canGrant = await canGrantRoles(ctx);
  const own: Partial<Credentials> = {
    ...(password === undefined ? {} : await newPassword(password, account)),
    ...(links === undefined ? {} : { thirdPartyAuthProviders: links }),
  };
  const setsCredentials = password !== undefined || links !== undefined;
  if (account.trusted) return { columns: { ...own, trusted: canGrant || !setsCredentials }, changes: [], events: [] };
  if (!addsRoles(account.roles, roles)) {
    if (password === undefined) return { columns: own, changes: [], events: [] };
    // End the stranger's sessions; links from earlier requests may still be theirs.
    const { columns, ...rest } = voidCredentials(ctx, account, links ?? account.thirdPartyAuthProviders);
    const replacesLinks = links !== undefined || account.thirdPartyAuthProviders.length === 0;
    return { ...rest, columns: { ...columns, ...own, trusted: canGrant && replacesLinks } };
  }
  const voided = voidCredentials(ctx, account, links);
  if (password !== undefined) return { ...voided, columns: { ...voided.columns, ...own } };
  const reset = newPasswordReset(ctx, account);
  return { ...voided, changes: [...voided.changes, reset.insert], events: [voidedEvent(ctx, account.id, reset.id)] };
}

/** A reset that nobody requested; an effect of the event sends its email. */
function newPasswordReset(ctx: Ctx, account: AccountRow): { id: string; insert: BatchItem<"sqlite"> } {
  const id = newId(ctx.now);
  const insert = ctx.db.insert(passwordResets).values({
    id,
    siteId: ctx.siteId,
    audience: ctx.siteId,
    accountId: account.id,
    passwordVersion: account.passwordVersion + 1,
    baseUrl: "",
    created: ctx.now,
    expires: ctx.now + NEW_PASSWORD_MS,
  });
  return { id, insert };
}

function voidedEvent(ctx: Ctx, accountId: string, resetId: string | null): NewEvent {
  return { type: "account.credentialsVoided", resource: `account/${accountId}`, data: { _id: accountId, siteId: ctx.siteId, resetId } };
}
