import { and, eq, isNull, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type AccountRow, intents, passwordResets, recoveryCodes, registerInvites, signInPlaces, totpSecrets } from "#db/schema/index.ts";
import type { AccountRole, ThirdPartyProvider } from "#db/types.ts";
import { newId } from "#worker/lib/ids.ts";
import { addsRoles } from "#worker/lib/roles.ts";
import { writeLinks } from "./links.ts";
import type { Ctx, NewEvent } from "#worker/services/core/context.ts";
import { newPassword } from "./account-rows.ts";
import { mayGiveRoles } from "./role-rules.ts";

/** Long enough to read the mail after a weekend: its reader didn't ask for it. */
const NEW_PASSWORD_MS = 7 * 24 * 60 * 60 * 1000;

type Credentials = Pick<AccountRow, "passwordHash" | "passwordVersion" | "thirdPartyAuthProviders" | "trusted">;

/** What a change does to an account's credentials: columns for its row, and what else goes into the batch. */
export interface CredentialChange {
  columns: Partial<Credentials>;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

type VoidRows = (ctx: Ctx, accountId: string) => BatchItem<"sqlite">;

/**
 * What lets somebody in beside the account's own columns and what follows `passwordVersion` (sessions, refresh tokens, TV codes, reset
 * links). An area that adds such a thing, such as a second factor, adds its line here.
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
  // An open invitation would count again as soon as its sender is an admin again.
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
 * Voids every credential of an account: the one place that does. `links` are the third-party sign-ins that stay. Goes, after the account's
 * own change, into the batch that has the reason for it.
 */
export function voidCredentials(ctx: Ctx, account: AccountRow, links: ThirdPartyProvider[] = []): CredentialChange {
  return {
    columns: {
      passwordHash: null,
      passwordVersion: account.passwordVersion + 1,
      thirdPartyAuthProviders: links,
      // Without any credential there is none that somebody else has set.
      trusted: true,
    },
    changes: [...writeLinks(ctx, account.id, links), ...VOID.map((rows) => rows(ctx, account.id))],
    events: [voidedEvent(ctx, account.id, null)],
  };
}

/** What staff and keys want of an account; what is left out stays. */
export interface StaffChange {
  roles: AccountRole[];
  password?: string | undefined;
  links?: ThirdPartyProvider[] | undefined;
}

/**
 * What becomes of an account's credentials when staff or a key give it roles, a password or links: every verb that writes roles takes its
 * columns from here. `trusted` says that the credentials are those of the person who has the address: that person proved the address, or
 * somebody who may give roles set them. Anybody can sign up under a stranger's address, so a role for an account that isn't trusted voids
 * what signs it in, save what the same request sets, and a mail lets the owner of the address choose a new password.
 */
export async function planCredentials(ctx: Ctx, account: AccountRow, { roles, password, links }: StaffChange): Promise<CredentialChange> {
  const isVouched = await mayGiveRoles(ctx);
  const own: Partial<Credentials> = {
    ...(password === undefined ? {} : await newPassword(password, account)),
    ...(links === undefined ? {} : { thirdPartyAuthProviders: links }),
  };
  const setsSome = password !== undefined || links !== undefined;
  if (account.trusted) return { columns: { ...own, trusted: isVouched || !setsSome }, changes: [], events: [] };
  if (!addsRoles(account.roles, roles)) {
    if (password === undefined) return { columns: own, changes: [], events: [] };
    // The stranger's sessions end; a link that isn't of this request may still be theirs.
    const { columns, ...rest } = voidCredentials(ctx, account, links ?? account.thirdPartyAuthProviders);
    const isAllOfThis = links !== undefined || account.thirdPartyAuthProviders.length === 0;
    return { ...rest, columns: { ...columns, ...own, trusted: isVouched && isAllOfThis } };
  }
  const voided = voidCredentials(ctx, account, links);
  if (password !== undefined) return { ...voided, columns: { ...voided.columns, ...own } };
  const reset = newPasswordReset(ctx, account);
  return { ...voided, changes: [...voided.changes, reset.insert], events: [voidedEvent(ctx, account.id, reset.id)] };
}

/** A reset that nobody asked for: its mail follows from the event. */
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
