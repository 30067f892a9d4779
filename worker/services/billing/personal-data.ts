import { and, eq, inArray } from "drizzle-orm";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { charges, recurringSubscriptions, refunds } from "#db/schema/commerce/billing.ts";
import { donations } from "#db/schema/commerce/donations.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { invites } from "#db/schema/invites.ts";
import { type PersonalData, rowsOf } from "#worker/services/core/personal-data.ts";

const area = "billing";

export const purchaseData: PersonalData[] = [
  rowsOf(
    { name: "entitlements", area: "subscription", description: "SKUs that the account holds or held" },
    {
      table: accountEntitlements,
      of: ({ siteId }, { accountId }) => and(eq(accountEntitlements.siteId, siteId), eq(accountEntitlements.accountId, accountId)),
      columns: {
        _id: accountEntitlements.id,
        sku: accountEntitlements.sku,
        grantedMethod: accountEntitlements.grantedMethod,
        presentmentCurrency: accountEntitlements.presentmentCurrency,
        price: accountEntitlements.price,
        refunded: accountEntitlements.refunded,
        status: accountEntitlements.status,
        dateGranted: accountEntitlements.dateGranted,
        dateCancelled: accountEntitlements.dateCancelled,
        dateRefunded: accountEntitlements.dateRefunded,
        dateEnds: accountEntitlements.dateEnds,
      },
    },
  ),
  rowsOf(
    { name: "accessCodes", area: "accesscode", description: "Access codes that the account redeemed" },
    {
      table: accessCodes,
      of: ({ siteId }, { accountId }) => and(eq(accessCodes.siteId, siteId), eq(accessCodes.accountId, accountId)),
      columns: { accessCode: accessCodes.accessCode, sku: accessCodes.sku, type: accessCodes.type, consumedAt: accessCodes.consumedAt },
    },
  ),
  rowsOf(
    { name: "magicLinks", area: "invite", description: "Magic links that signed the account in" },
    {
      table: invites,
      of: ({ siteId }, { accountId }) => and(eq(invites.siteId, siteId), eq(invites.accountId, accountId)),
      columns: { targetSkus: invites.targetSkus, tags: invites.tags, consumedAt: invites.consumedAt },
    },
  ),
  rowsOf(
    { name: "charges", area, description: "Payments" },
    {
      table: charges,
      of: ({ siteId }, { accountId }) => and(eq(charges.siteId, siteId), eq(charges.accountId, accountId)),
      columns: {
        _id: charges.id,
        amount: charges.amount,
        currency: charges.currency,
        itemType: charges.itemType,
        itemId: charges.itemId,
        description: charges.description,
        skus: charges.skus,
        recurrence: charges.recurrence,
        status: charges.status,
        refunded: charges.refunded,
        receiptNumber: charges.receiptNumber,
        created: charges.created,
        modified: charges.modified,
      },
    },
  ),
  rowsOf(
    { name: "refunds", area, description: "Refunds of these payments" },
    {
      table: refunds,
      of: (ctx, { accountId }) =>
        inArray(
          refunds.chargeId,
          ctx.db
            .select({ id: charges.id })
            .from(charges)
            .where(and(eq(charges.siteId, ctx.siteId), eq(charges.accountId, accountId))),
        ),
      columns: {
        chargeId: refunds.chargeId,
        amount: refunds.amount,
        reason: refunds.reason,
        status: refunds.status,
        created: refunds.created,
      },
    },
  ),
  rowsOf(
    { name: "recurringSubscriptions", area, description: "Monthly and yearly payments" },
    {
      table: recurringSubscriptions,
      of: ({ siteId }, { accountId }) => and(eq(recurringSubscriptions.siteId, siteId), eq(recurringSubscriptions.accountId, accountId)),
      columns: {
        _id: recurringSubscriptions.id,
        amount: recurringSubscriptions.amount,
        currency: recurringSubscriptions.currency,
        description: recurringSubscriptions.description,
        skus: recurringSubscriptions.skus,
        recurrence: recurringSubscriptions.recurrence,
        status: recurringSubscriptions.status,
        currentPeriodEnd: recurringSubscriptions.currentPeriodEnd,
        dateCancelled: recurringSubscriptions.dateCancelled,
        created: recurringSubscriptions.created,
      },
    },
  ),
  rowsOf(
    { name: "wallets", area, description: "The wallet" },
    {
      table: wallets,
      of: ({ siteId }, { accountId }) => and(eq(wallets.siteId, siteId), eq(wallets.ownerType, "account"), eq(wallets.ownerId, accountId)),
      columns: { _id: wallets.id, balance: wallets.balance, created: wallets.created, modified: wallets.modified },
    },
  ),
  rowsOf(
    { name: "walletTransactions", area, description: "What has credited and debited the wallet" },
    {
      table: walletTransactions,
      of: (ctx, { accountId }) =>
        inArray(
          walletTransactions.walletId,
          ctx.db
            .select({ id: wallets.id })
            .from(wallets)
            .where(and(eq(wallets.siteId, ctx.siteId), eq(wallets.ownerType, "account"), eq(wallets.ownerId, accountId))),
        ),
      columns: {
        _id: walletTransactions.id,
        transactionId: walletTransactions.transactionId,
        amount: walletTransactions.amount,
        balance: walletTransactions.balance,
        reason: walletTransactions.reason,
        reference: walletTransactions.reference,
        created: walletTransactions.created,
      },
    },
  ),
  rowsOf(
    { name: "donations", area, description: "What the donor entered with donations, whose payments are among the charges" },
    {
      table: donations,
      of: ({ siteId }, { accountId }) => and(eq(donations.siteId, siteId), eq(donations.accountId, accountId)),
      columns: {
        _id: donations.id,
        panelId: donations.panelId,
        channelId: donations.channelId,
        name: donations.name,
        message: donations.message,
        amount: donations.amount,
        currency: donations.currency,
        created: donations.created,
        paid: donations.paid,
      },
    },
  ),
];
