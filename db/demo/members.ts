import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { accounts, userProfiles } from "#db/schema/accounts.ts";
import type { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import type { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { DAY, KICK_OFF, SITE_A, stamps } from "./match-day.ts";

// The supporters of site A, with their current, past and ending entitlements.

/** The club's membership, paid monthly. */
export const CLUB_PLUS = "5eed00000000000000004b03";
/** The ids of the purchases' charges. */
export const SEASON_CHARGE = "5eed00000000000000006a01";
export const REFUNDED_CHARGE = "5eed00000000000000006a02";
export const CLUB_PLUS_RECURRING = "5eed00000000000000006b01";

const MONTH = 30 * DAY;
const SUPPORTERS = ["Tess Terrace", "Owen Offside", "Nadia Nutmeg", "Karim Keeper", "Lena Linesman", "Paolo Penalty"] as const;

/** The account id of a supporter, by index in the list above. */
export function supporterId(index: number): string {
  return `5eed0000000000000000a02${index}`;
}

/** They sign in through the club's app, so none has a password. */
export async function demoSupporters() {
  return Promise.all(
    SUPPORTERS.map(async (name, index) => {
      const email = `${name.toLowerCase().replace(" ", ".")}@fans.example`;
      const joined = { created: stamps.created - (index + 1) * 9 * DAY, modified: stamps.modified };
      const account: typeof accounts.$inferInsert = {
        ...joined,
        id: supporterId(index),
        siteId: SITE_A,
        email,
        name,
        normalizedName: name.toLowerCase(),
        emailHash: await sha256(email),
        roles: [],
        tags: index % 2 === 0 ? ["team:home"] : ["team:home", "tier:gold"],
        thirdPartyAuthProviders: [],
        marketingOptin: index % 2 === 0,
        lastLogin: stamps.modified - index * DAY,
      };
      const profile: typeof userProfiles.$inferInsert = {
        ...joined,
        id: supporterId(index).replace("a02", "b02"),
        siteId: SITE_A,
        accountId: account.id,
        name,
      };
      return { account, profile };
    }),
  );
}

export function demoMemberships(): (typeof subscriptions.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: CLUB_PLUS,
      siteId: SITE_A,
      sku: "club-plus",
      name: "Club Plus",
      subscriptionProvider: "stripe",
      recurrence: "month",
      prices: [
        { currency: "gbp", default: true, value: 799 },
        { currency: "eur", default: false, value: 899 },
      ],
      previewDurationSeconds: 60,
      tags: ["football", "members"],
    },
  ];
}

export function demoMemberEntitlements(): (typeof accountEntitlements.$inferInsert)[] {
  const granted = stamps.created;
  const bought = { grantedMethod: "purchased" as const, presentmentCurrency: "gbp", dateGranted: granted };
  return [
    { ...entitlement(1, 0, "season-pass"), ...bought, price: 8900, source: `charge/${SEASON_CHARGE}` },
    {
      ...entitlement(2, 1, "club-plus"),
      ...bought,
      price: 799,
      dateEnds: KICK_OFF + MONTH,
      source: `recurring/${CLUB_PLUS_RECURRING}`,
    },
    {
      ...entitlement(3, 2, "match-pass"),
      ...bought,
      price: 900,
      refunded: 900,
      status: "cancelled",
      dateCancelled: stamps.modified,
      dateRefunded: stamps.modified,
      source: `charge/${REFUNDED_CHARGE}`,
    },
    entitlement(4, 3, "season-pass"),
    { ...entitlement(5, 4, "match-pass"), status: "cancelled", dateCancelled: stamps.modified },
  ];
}

/** Granted by the club's customer service unless overridden. */
function entitlement(number: number, index: number, sku: string): typeof accountEntitlements.$inferInsert {
  return {
    ...stamps,
    id: `5eed00000000000000004c1${number}`,
    siteId: SITE_A,
    accountId: supporterId(index),
    sku,
    grantedMethod: "customerService",
    status: "active",
    dateGranted: stamps.created,
  };
}
