import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { accountEntitlements, accounts, subscriptions, userProfiles } from "#db/schema/index.ts";
import { DAY, KICK_OFF, SITE_A, stamps } from "./match-day.ts";

// The supporters of site A, and what they hold, held and are about to lose.

/** The club's membership, paid monthly. */
export const CLUB_PLUS = "5eed00000000000000004b03";
/** What the charges of these purchases are called. */
export const SEASON_CHARGE = "5eed00000000000000006a01";
export const REFUNDED_CHARGE = "5eed00000000000000006a02";
export const CLUB_PLUS_RECURRING = "5eed00000000000000006b01";

const MONTH = 30 * DAY;
const SUPPORTERS = ["Tess Terrace", "Owen Offside", "Nadia Nutmeg", "Karim Keeper", "Lena Linesman", "Paolo Penalty"] as const;

/** The account of a supporter, by place in the list above. */
export function supporterId(place: number): string {
  return `5eed0000000000000000a02${place}`;
}

/** They come in through the club's app: none has a password. */
export async function demoSupporters() {
  return Promise.all(
    SUPPORTERS.map(async (name, place) => {
      const email = `${name.toLowerCase().replace(" ", ".")}@fans.example`;
      const joined = { created: stamps.created - (place + 1) * 9 * DAY, modified: stamps.modified };
      const account: typeof accounts.$inferInsert = {
        ...joined,
        id: supporterId(place),
        siteId: SITE_A,
        email,
        name,
        normalizedName: name.toLowerCase(),
        emailHash: await sha256(email),
        roles: [],
        tags: place % 2 === 0 ? ["team:home"] : ["team:home", "tier:gold"],
        thirdPartyAuthProviders: [],
        marketingOptin: place % 2 === 0,
        lastLogin: stamps.modified - place * DAY,
      };
      const profile: typeof userProfiles.$inferInsert = {
        ...joined,
        id: supporterId(place).replace("a02", "b02"),
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

/** Given by the club, unless said otherwise. */
function entitlement(number: number, place: number, sku: string): typeof accountEntitlements.$inferInsert {
  return {
    ...stamps,
    id: `5eed00000000000000004c1${number}`,
    siteId: SITE_A,
    accountId: supporterId(place),
    sku,
    grantedMethod: "customerService",
    status: "active",
    dateGranted: stamps.created,
  };
}
