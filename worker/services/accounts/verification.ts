import { exists } from "drizzle-orm";
import { type AccountRow, accounts } from "#db/schema/accounts.ts";
import { conflict, Failure, invalid } from "#worker/lib/errors.ts";
import { batchAll, commitIfUnchanged, type Ctx, whereVersion } from "#worker/services/core/context.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import { requirePassword } from "#worker/services/auth/sign-in-attempts.ts";
import { findProof, markVerified, verifiedEvent } from "./email-proofs.ts";
import { planPasswordByMail, requireStaffPassword } from "./passwords.ts";
import type { VerifyEmail } from "./schemas.ts";

/**
 * Verifies the address of an account with a mailed single-use token. Anyone can sign up with someone else's address, and its owner must not
 * verify it for them by opening a link. So unless the credentials are known to be the owner's, the caller must also prove to have them, or
 * replace them.
 */
export async function verifyEmail(ctx: Ctx, { token, password, newPassword }: VerifyEmail, address: string): Promise<void> {
  await ctx.caller();
  await takeSlot(ctx, "verifyEmail", address);
  const found = await findProof(ctx, "verify", token);
  if (!found) throw invalid("token", "The token is invalid, expired or already used");
  const { account, use } = found;
  const isUnchanged = exists(
    ctx.db
      .select({ id: accounts.id })
      .from(accounts)
      .where(whereVersion(ctx, accounts, account)),
  );
  if (newPassword !== undefined) {
    if (account.emailVerified !== null) throw conflict("The address is already verified; reset the password instead");
    requireStaffPassword(account, newPassword, "newPassword");
    const { changes, events } = await planPasswordByMail(ctx, account, newPassword, address);
    const [first = verifiedEvent(ctx, account.id, "mail"), ...rest] = events;
    await commitIfUnchanged(ctx, [use(isUnchanged), ...changes], first, ...rest);
    return;
  }
  if (account.emailVerified !== null) return batchAll(ctx.db, [use()]);
  await requireCredentials(ctx, account, password, address);
  await commitIfUnchanged(ctx, [use(isUnchanged), markVerified(ctx, account.id)], verifiedEvent(ctx, account.id, "mail"));
}

/** A 403 unless the account's credentials are known to be the owner's, or the caller proves to have them with a session or the password. */
async function requireCredentials(ctx: Ctx, account: AccountRow, password: string | undefined, address: string): Promise<void> {
  const caller = await ctx.caller();
  if (account.trusted || (caller.kind === "account" && caller.id === account.id)) return;
  if (password === undefined) throw new Failure("password_required");
  await requirePassword(ctx, account, password, address, invalid("password", "The password is incorrect"));
}
