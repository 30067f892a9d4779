import type { charges, recurringSubscriptions, refunds } from "#db/schema/commerce/billing.ts";
import type { bundles } from "#db/schema/commerce/bundles.ts";
import type { wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { DAY, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { CLUB_PLUS, CLUB_PLUS_RECURRING, REFUNDED_CHARGE, SEASON_CHARGE, supporterId } from "./members.ts";

// Purchases, recurring payments and refunds of site A's supporters. None of them exists at Stripe.

const SEASON_PASS = "5eed00000000000000004b01";
const MATCH_PASS = "5eed00000000000000004b02";
const VIEWER = "5eed0000000000000000a003";
const VIEWER_WALLET = "5eed00000000000000006f01";
const MONTH = 30 * DAY;

export function demoBundles(): (typeof bundles.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: "5eed00000000000000006d01",
      siteId: SITE_A,
      name: "Derby day bundle",
      sku: "derby-day",
      price: 2900,
      presentmentCurrency: "gbp",
      items: [
        { type: "ticket", id: "match-pass" },
        { type: "shopify", id: "8012345678901" },
      ],
      description: "The derby live, and the scarf to wear",
    },
    {
      ...stamps,
      id: "5eed00000000000000006d11",
      siteId: SITE_B,
      name: "Dock day bundle",
      sku: "dock-day",
      price: 2500,
      presentmentCurrency: "gbp",
      items: [{ type: "ticket", id: "season-pass" }],
      description: "A season at the dock",
    },
  ];
}

export function demoCharges(): (typeof charges.$inferInsert)[] {
  const pounds = { ...stamps, siteId: SITE_A, currency: "gbp", itemType: "subscription" as const };
  const paid = { ...pounds, status: "complete" as const };
  return [
    {
      ...paid,
      id: SEASON_CHARGE,
      accountId: supporterId(0),
      amount: 8900,
      itemId: SEASON_PASS,
      description: "Season pass",
      skus: ["season-pass"],
      receiptNumber: "R-2026-4QX7M2KD",
      stripePaymentId: "pi_demo_season",
    },
    {
      ...paid,
      id: REFUNDED_CHARGE,
      accountId: supporterId(2),
      amount: 900,
      reserved: 900,
      refunded: 900,
      itemId: MATCH_PASS,
      description: "Match pass",
      skus: ["match-pass"],
      receiptNumber: "R-2026-9TB3W5HN",
      stripePaymentId: "pi_demo_match",
    },
    {
      ...paid,
      id: "5eed00000000000000006a03",
      accountId: supporterId(1),
      amount: 799,
      itemId: CLUB_PLUS,
      description: "Club Plus",
      skus: ["club-plus"],
      recurrence: "month",
      recurringId: CLUB_PLUS_RECURRING,
      receiptNumber: "R-2026-2RV8J6PC",
      stripePaymentId: "pi_demo_club",
      stripeInvoiceId: "in_demo_club",
    },
    {
      ...pounds,
      id: "5eed00000000000000006a04",
      accountId: VIEWER,
      status: "declined",
      amount: 8900,
      itemId: SEASON_PASS,
      description: "Season pass",
      skus: ["season-pass"],
      failure: "The payment page expired",
    },
  ];
}

export function demoRefunds(): (typeof refunds.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: "5eed00000000000000006e01",
      siteId: SITE_A,
      chargeId: REFUNDED_CHARGE,
      amount: 900,
      reason: "requested_by_customer",
      keep: false,
      status: "complete",
      stripeRefundId: "re_demo_match",
    },
  ];
}

export function demoRecurring(): (typeof recurringSubscriptions.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: CLUB_PLUS_RECURRING,
      siteId: SITE_A,
      accountId: supporterId(1),
      amount: 799,
      currency: "gbp",
      itemType: "subscription",
      itemId: CLUB_PLUS,
      description: "Club Plus",
      skus: ["club-plus"],
      recurrence: "month",
      status: "active",
      pastDue: false,
      stopping: false,
      stripeSubscriptionId: "sub_demo_club",
      currentPeriodEnd: KICK_OFF + MONTH,
    },
  ];
}

/** What the viewer has earned and spent: the sum is the wallet's balance. */
export function demoWalletTransactions(): (typeof walletTransactions.$inferInsert)[] {
  const by = { siteId: SITE_A, walletId: VIEWER_WALLET, createdBy: "developer:5eed0000000000000000e001", created: stamps.created };
  return [
    {
      ...{ ...by, id: "5eed00000000000000006f51", transactionId: "season-ticket-1093", entry: 2, amount: 1000, balance: 1000 },
      ...{ reason: "Season ticket holder", reference: "ticket 1093" },
    },
    {
      ...{ ...by, id: "5eed00000000000000006f52", transactionId: "goal-of-the-month-10", entry: 3, amount: 500, balance: 1500 },
      ...{ reason: "Goal of the month", reference: "vote 10" },
    },
    {
      ...{ ...by, id: "5eed00000000000000006f53", transactionId: "kiosk-2207", entry: 4, amount: -250, balance: 1250 },
      ...{ reason: "Half-time tea", reference: "kiosk 2207" },
    },
  ];
}

export function demoWallets(): (typeof wallets.$inferInsert)[] {
  const wallet = { ...stamps, balance: 0 };
  return [
    { ...wallet, id: VIEWER_WALLET, siteId: SITE_A, ownerId: VIEWER, ownerType: "account", balance: 1250, version: 4 },
    {
      ...wallet,
      id: "5eed00000000000000006f02",
      siteId: SITE_A,
      ownerId: supporterId(1),
      ownerType: "account",
      paymentCustomerId: "cus_demo_owen",
    },
    { ...wallet, id: "5eed00000000000000006f11", siteId: SITE_B, ownerId: SITE_B, ownerType: "site" },
  ];
}
