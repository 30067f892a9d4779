import { z } from "@hono/zod-openapi";
import type { ConnectionRow } from "#db/schema/commerce/billing.ts";
import { Id, LinkUrl, Time } from "#worker/lib/schemas/common.ts";

export const ConnectInput = z
  .strictObject({
    returnUrl: LinkUrl.describe("Where Stripe sends the owner afterwards, finished or not; its origin is in the site's allowedOrigins"),
    refreshUrl: LinkUrl.describe("Where Stripe sends the owner if the link has expired or was used; create a new link there"),
  })
  .openapi("ConnectInput", {
    example: { returnUrl: "https://demo.example/studio/money", refreshUrl: "https://demo.example/studio/money?connect=again" },
  });

export const ConnectLink = z
  .object({ url: z.string().describe("Stripe's page; can be opened once"), expiresAt: Time })
  .openapi("ConnectLink");

const State = {
  connected: z.boolean().describe("Whether the owner has connected the account and sent Stripe their details"),
  stripeAccount: z.string().nullable().describe("The account's id at Stripe; null until a link was created"),
  chargesEnabled: z.boolean().describe("Whether buyers can pay; until then checkouts are rejected with 409"),
  payoutsEnabled: z.boolean().describe("Whether Stripe pays out to the owner's bank"),
  detailsSubmitted: z.boolean(),
  requirements: z
    .object({
      currentlyDue: z.array(z.string()).describe("What Stripe needs from the owner, in Stripe's names"),
      pastDue: z.array(z.string()).describe("Which of these are overdue"),
      disabledReason: z.string().nullable().describe("Why Stripe has disabled charges or payouts"),
    })
    .describe("What Stripe still requires"),
};

export const StripeConnection = z.object(State).openapi("StripeConnection");
export const StripeConnectionEvent = z.object({ _id: Id, siteId: Id, ...State });

export type ConnectInput = z.output<typeof ConnectInput>;

const NONE = {
  stripeAccount: null,
  chargesEnabled: false,
  payoutsEnabled: false,
  detailsSubmitted: false,
  requirements: { currentlyDue: [], pastDue: [], disabledReason: null },
};

export function toConnection(row: ConnectionRow | undefined) {
  const { stripeAccount, chargesEnabled, payoutsEnabled, detailsSubmitted, requirements } = row ?? NONE;
  return {
    connected: stripeAccount !== null && detailsSubmitted,
    stripeAccount,
    chargesEnabled,
    payoutsEnabled,
    detailsSubmitted,
    requirements,
  } satisfies z.output<typeof StripeConnection>;
}

/** What the event log records of a connection. */
export function toConnectionEvent(row: ConnectionRow) {
  return { _id: row.id, siteId: row.siteId, ...toConnection(row) } satisfies z.output<typeof StripeConnectionEvent>;
}
