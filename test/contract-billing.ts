import type { CallOptions, TestSite } from "./harness.ts";
import { buy, type Buyer, newBuyer, newSubscription, recurringRow, walletIdOf } from "./purchases.ts";
import { stripe } from "./stripe-server.ts";

// Live values for the billing operations: one-off and recurring payments, and Stripe's signature.

async function buyerOf(site: TestSite): Promise<Buyer> {
  return { ...site.accounts.viewer, headers: await site.headersOf("viewer") };
}

async function recurringParams(site: TestSite): Promise<Record<string, string>> {
  const buyer = await newBuyer(site);
  await buy(site, buyer, (await newSubscription(site, { recurrence: "month" }))._id);
  return { walletId: await walletIdOf(site, buyer), subscriptionId: (await recurringRow(buyer)).id };
}

/** Complete calls by operation. */
export const BILLING_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  refundCharge: async (site) => {
    const buyer = await buyerOf(site);
    const chargeId = await buy(site, buyer, (await newSubscription(site))._id);
    return { body: { accountId: buyer.id, chargeId, reason: "requested_by_customer" } };
  },
  connectStripe: () =>
    Promise.resolve({ body: { returnUrl: "https://demo.example/studio", refreshUrl: "https://demo.example/studio?again" } }),
  receiveStripeEvent: () => stripe.event("customer.created", { id: "cus_1", object: "customer" }),
  getRecurringSubscription: async (site) => ({ params: await recurringParams(site) }),
  cancelRecurringSubscription: async (site) => ({
    params: await recurringParams(site),
    body: { refund: false, scheduled: "endOfBilling" },
  }),
};

/** Creates the resource of these paths, on which the least privileged caller has rights. */
export const BILLING_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/wallet/v1/{id}/transactions": async (site) => walletIdOf(site, await buyerOf(site)),
};

/** The operation that creates a path's resource, if it has a different path. */
export const BILLING_CREATORS: Record<string, string> = {
  "/wallet/v1/account/{accountId}": "createAccount",
  "/wallet/v1/recurring/{walletId}": "getWallet",
  "/wallet/v1/recurring/{walletId}/{subscriptionId}": "getWallet",
};
