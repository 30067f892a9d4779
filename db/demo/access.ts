import type { accessCodes } from "#db/schema/commerce/access-codes.ts";
import type { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import type { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import type { invites, registerInvites } from "#db/schema/invites.ts";
import { sealToken } from "#worker/services/invites/invites.ts";
import { CHANNEL_2, DAY, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";

// Access: subscriptions, the codes and links that grant them, and who holds one.

const ADMIN = "5eed0000000000000000a001";
const VIEWER = "5eed0000000000000000a003";
const REDEEMED_CODE = "5eed00000000000000004d03";

export function demoSubscriptions(): (typeof subscriptions.$inferInsert)[] {
  const pounds = (value: number) => [{ currency: "gbp", default: true, value }];
  const external = { ...stamps, subscriptionProvider: "external" as const, tags: ["football"] };
  return [
    {
      ...external,
      id: "5eed00000000000000004b01",
      siteId: SITE_A,
      sku: "season-pass",
      name: "Season pass",
      recurrence: "year",
      prices: pounds(8900),
    },
    {
      ...external,
      id: "5eed00000000000000004b02",
      siteId: SITE_A,
      sku: "match-pass",
      name: "Match pass",
      recurrence: "once",
      prices: pounds(900),
      previewDurationSeconds: 120,
    },
    {
      ...external,
      id: "5eed00000000000000004b11",
      siteId: SITE_B,
      sku: "season-pass",
      name: "Dock season",
      recurrence: "year",
      prices: pounds(7900),
    },
  ];
}

export function demoAccessCodes(): (typeof accessCodes.$inferInsert)[] {
  return [
    code("5eed00000000000000004d01", SITE_A, "HARBOUR-2026", "season-pass", ["members"]),
    { ...code("5eed00000000000000004d02", SITE_A, "QUAYSIDE-PRESS", "press-box", ["press"]), type: "login" },
    { ...code(REDEEMED_CODE, SITE_A, "KICK-OFF-17", "match-pass", ["give-away"]), accountId: VIEWER, consumedAt: stamps.modified },
    code("5eed00000000000000004d11", SITE_B, "DOCKSIDE-2026", "season-pass", []),
  ];
}

function code(id: string, siteId: string, accessCode: string, sku: string, tags: string[]): typeof accessCodes.$inferInsert {
  return { ...stamps, id, siteId, accessCode, sku, type: "subscription", tags };
}

export function demoEntitlements(): (typeof accountEntitlements.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: "5eed00000000000000004c01",
      siteId: SITE_A,
      accountId: VIEWER,
      sku: "match-pass",
      grantedMethod: "accessCode",
      status: "active",
      dateGranted: stamps.modified,
      source: `accesscode/${REDEEMED_CODE}`,
    },
  ];
}

export async function demoInvites(secrets: { TIFO_SECRET: string }): Promise<(typeof invites.$inferInsert)[]> {
  const link = { ...stamps, targetSkus: ["season-pass"], redirectUri: "https://demo.example/welcome", expires: KICK_OFF + 60 * DAY };
  return [
    { ...link, ...(await sealToken(secrets, "Quay26")), id: "5eed00000000000000004e01", siteId: SITE_A, tags: ["press"] },
    {
      ...link,
      ...(await sealToken(secrets, "Pier26")),
      id: "5eed00000000000000004e02",
      siteId: SITE_A,
      tags: [],
      revokedAt: stamps.modified,
    },
    { ...link, ...(await sealToken(secrets, "Dock26")), id: "5eed00000000000000004e11", siteId: SITE_B, tags: [] },
  ];
}

export function demoRegisterInvites(): (typeof registerInvites.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: "5eed00000000000000004f01",
      siteId: SITE_A,
      email: "new.editor@demo.example",
      senderAccountId: ADMIN,
      targetRoles: [{ scope: "*", pageId: [CHANNEL_2], write: true }],
      redirectUri: "https://demo.example/join",
      expires: KICK_OFF + 7 * DAY,
      sent: true,
      bySender: true,
    },
  ];
}
