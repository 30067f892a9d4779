import { and, eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import {
  accountLinks,
  intents,
  passwordResets,
  recoveryCodes,
  sessions,
  signInFailures,
  signInPlaces,
  totpSecrets,
  userProfiles,
} from "#db/schema/accounts.ts";
import { chatBans } from "#db/schema/engagement/chat.ts";
import { devices } from "#db/schema/devices.ts";
import { registerInvites } from "#db/schema/invites.ts";
import { questReports } from "#db/schema/engagement/quests.ts";
import { rundownOperators } from "#db/schema/rundowns.ts";
import { deleteActivity } from "#worker/services/realtime/activity.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { endClaims } from "#worker/services/claim-statuses/claims.ts";
import { eraseQuestions } from "#worker/services/qna/erasure.ts";
import { deleteProofs } from "./email-proofs.ts";
import { devicesOf } from "#worker/services/pages/devices.ts";
import { deleteDonations } from "#worker/services/billing/paid-donations.ts";
import { stopAccountPayments } from "#worker/services/billing/recurring.ts";
import { deleteTransactions } from "#worker/services/wallets/ledger.ts";
import { deleteWallet } from "#worker/services/wallets/wallets.ts";
import { deleteWatchTimeOfAccount } from "#worker/services/pages/watch-time.ts";

type Erase = (ctx: Ctx, accountId: string) => BatchItem<"sqlite">;

/**
 * What is erased when an account is deleted. An area that stores personal data adds a line here: a delete or, for accounting
 * records, an update that leaves only the account's id.
 */
const ERASE: Erase[] = [
  (ctx, id) => ctx.db.delete(userProfiles).where(and(eq(userProfiles.siteId, ctx.siteId), eq(userProfiles.accountId, id))),
  (ctx, id) => ctx.db.delete(sessions).where(and(eq(sessions.audience, ctx.siteId), eq(sessions.accountId, id))),
  (ctx, id) => ctx.db.delete(signInPlaces).where(and(eq(signInPlaces.audience, ctx.siteId), eq(signInPlaces.accountId, id))),
  (ctx, id) => ctx.db.delete(signInFailures).where(and(eq(signInFailures.siteId, ctx.siteId), eq(signInFailures.accountId, id))),
  (ctx, id) => ctx.db.delete(totpSecrets).where(and(eq(totpSecrets.siteId, ctx.siteId), eq(totpSecrets.accountId, id))),
  (ctx, id) => ctx.db.delete(recoveryCodes).where(and(eq(recoveryCodes.siteId, ctx.siteId), eq(recoveryCodes.accountId, id))),
  (ctx, id) => ctx.db.delete(accountLinks).where(and(eq(accountLinks.siteId, ctx.siteId), eq(accountLinks.accountId, id))),
  (ctx, id) => ctx.db.delete(passwordResets).where(and(eq(passwordResets.audience, ctx.siteId), eq(passwordResets.accountId, id))),
  (ctx, id) => deleteProofs(ctx, id),
  (ctx, id) => ctx.db.delete(intents).where(and(eq(intents.siteId, ctx.siteId), eq(intents.accountId, id))),
  (ctx, id) => ctx.db.delete(devices).where(devicesOf(ctx, id)),
  (ctx, id) => deleteWatchTimeOfAccount(ctx, id),
  (ctx, id) => deleteActivity(ctx, id),
  (ctx, id) => ctx.db.delete(questReports).where(and(eq(questReports.siteId, ctx.siteId), eq(questReports.accountId, id))),
  (ctx, id) => eraseQuestions(ctx, id),
  (ctx, id) => ctx.db.delete(chatBans).where(and(eq(chatBans.siteId, ctx.siteId), eq(chatBans.accountId, id))),
  (ctx, id) => ctx.db.delete(rundownOperators).where(and(eq(rundownOperators.siteId, ctx.siteId), eq(rundownOperators.operatorId, id))),
  (ctx, id) => endClaims(ctx, id),
  (ctx, id) => stopAccountPayments(ctx, id),
  (ctx, id) => deleteDonations(ctx, id),
  (ctx, id) => deleteTransactions(ctx, id),
  (ctx, id) => deleteWallet(ctx, id),
  (ctx, id) =>
    ctx.db
      .update(registerInvites)
      .set({ email: "" })
      .where(and(eq(registerInvites.siteId, ctx.siteId), eq(registerInvites.accountId, id))),
];

/** The statements that erase a person's data, for the batch that deletes the account. */
export function erasePerson(ctx: Ctx, accountId: string): BatchItem<"sqlite">[] {
  return ERASE.map((erase) => erase(ctx, accountId));
}
