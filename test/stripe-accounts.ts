import { randomHex } from "#worker/lib/ids.ts";
import { type Fields, type Json, metadataOf } from "./stripe-objects.ts";

// The connected accounts of the Stripe stand-in: what the platform has created, and what their owners have done since.

export interface ConnectedAccount {
  id: string;
  metadata: Fields;
  controller: Fields;
  chargesEnabled: boolean;
  payoutsEnabled: boolean;
  detailsSubmitted: boolean;
  currentlyDue: string[];
  disabledReason: string | null;
  /** Whether the owner has revoked the platform's access. */
  revoked: boolean;
}

const accounts = new Map<string, ConnectedAccount>();
const links = new Array<Fields>();

export const stripeAccounts = {
  /** The account links created so far, with their fields. */
  links,
  get(id: string): ConnectedAccount {
    const account = accounts.get(id);
    if (!account) throw new Error("Stripe has no such account");
    return account;
  },
  of(siteId: string): ConnectedAccount[] {
    return [...accounts.values()].filter(({ metadata }) => metadata.siteId === siteId);
  },
  /** Adds an account that already exists at Stripe. */
  add(id: string, fields: Partial<ConnectedAccount> = {}): ConnectedAccount {
    const account: ConnectedAccount = {
      id,
      metadata: {},
      controller: {},
      chargesEnabled: false,
      payoutsEnabled: false,
      detailsSubmitted: false,
      currentlyDue: ["business_profile.url", "external_account"],
      disabledReason: "requirements.past_due",
      revoked: false,
      ...fields,
    };
    accounts.set(id, account);
    return account;
  },
  /** The owner completes Stripe's onboarding form. */
  complete(id: string): ConnectedAccount {
    const completed = { chargesEnabled: true, payoutsEnabled: true, detailsSubmitted: true, currentlyDue: [], disabledReason: null };
    return Object.assign(stripeAccounts.get(id), completed);
  },
  /** The id of the next account to be created. */
  nextId: "",
};

export function showAccount({ id, metadata, chargesEnabled, payoutsEnabled, detailsSubmitted, ...due }: ConnectedAccount): Json {
  return {
    id,
    object: "account",
    business_type: null,
    charges_enabled: chargesEnabled,
    controller: { type: "application", is_controller: true },
    details_submitted: detailsSubmitted,
    email: null,
    metadata,
    payouts_enabled: payoutsEnabled,
    requirements: {
      alternatives: [],
      current_deadline: null,
      currently_due: due.currentlyDue,
      disabled_reason: due.disabledReason,
      errors: [],
      eventually_due: due.currentlyDue,
      past_due: [],
      pending_verification: [],
    },
    type: "none",
  };
}

/** The accounts of test sites, which the harness inserts without calling Stripe, exist and are complete. */
function knownAccount(id: string): ConnectedAccount | undefined {
  if (/^acct_[0-9a-f]{24}$/.test(id) && !accounts.has(id)) stripeAccounts.complete(stripeAccounts.add(id).id);
  return accounts.get(id);
}

export function connectResponse(call: string, id: string | undefined, fields: Fields): { status: number; body: Json } {
  if (call === "POST accounts") {
    const controller = Object.entries(fields).filter(([name]) => name.startsWith("controller["));
    const created = { metadata: metadataOf(fields), controller: Object.fromEntries(controller) };
    const account = stripeAccounts.add(stripeAccounts.nextId || `acct_${randomHex(8)}`, created);
    stripeAccounts.nextId = "";
    return { status: 200, body: showAccount(account) };
  }
  const account = knownAccount(id ?? fields.account ?? "");
  if (!account || account.revoked) {
    const message =
      "The provided key does not have access to this account (or it does not exist). Application access may have been revoked.";
    return { status: 403, body: { error: { type: "invalid_request_error", code: "account_invalid", message } } };
  }
  if (call === "GET accounts") return { status: 200, body: showAccount(account) };
  links.push(fields);
  const now = Math.floor(Date.now() / 1000);
  const url = `https://connect.stripe.com/setup/s/${account.id}/${randomHex(6)}`;
  return { status: 200, body: { object: "account_link", created: now, expires_at: now + 300, url } };
}
