import { and, eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { z } from "@hono/zod-openapi";
import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";
import { type AccountRow, accounts, type IntentRow } from "#db/schema/accounts.ts";
import type { ThirdPartyProvider } from "#db/types.ts";
import { callPublic } from "#worker/integrations/public-host.ts";
import { conflict, Failure, invalid, notFound, SiteHostFailure, unauthenticated } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import type { CreateIntent } from "./schemas.ts";
import { accountColumns } from "#worker/services/accounts/columns.ts";
import { findLinked } from "#worker/services/accounts/links.ts";
import { replaceAccount } from "#worker/services/accounts/accounts.ts";
import {
  accountEvent,
  insertAccount,
  isPlaceholderEmail,
  newAccount,
  normalizeEmail,
  rejectTakenEmail,
  placeholderEmail,
} from "#worker/services/accounts/account-rows.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, nextVersion, ownRow } from "#worker/services/core/context.ts";
import { voidCredentials } from "#worker/services/accounts/credentials.ts";
import { verifiedEvent } from "#worker/services/accounts/email-proofs.ts";
import { newIntent, type Redemption } from "./intent-rows.ts";
import { getSite } from "#worker/services/sites/current-site.ts";

const ALGORITHMS = ["EdDSA", "ES256", "RS256"];
const MAX_KEY_SETS = 200;

/** A person as asserted by a partner's signed token. */
interface Partner {
  provider: string;
  accountId: string;
  name: string;
  /** Only if the partner has verified it. */
  email: string | undefined;
}

/** Finds, links or creates the account for a partner's signed token, and returns a single-use token that signs it in. */
export async function createPartnerIntent(ctx: Ctx, input: CreateIntent): Promise<{ token: string; expiresAt: number }> {
  const site = await getSite(ctx);
  const provider = site.settings.security.providers.find(({ name }) => name === input.provider);
  if (!provider) throw invalid("provider", "The site has no registered provider with this name");
  const claims = await verifyPartnerToken(ctx, provider, input);
  const partner = { provider: input.provider, accountId: input.thirdPartyAccountId, name: input.name, email: verifiedEmail(claims) };
  const linked = await findLinked(ctx, partner.provider, partner.accountId);
  const { account, changes, events } = await (linked ? planLinked(ctx, linked, partner) : linkOrCreate(ctx, partner));
  const { id, token, expiresAt, insert } = await newIntent(ctx, {
    kind: "partner",
    accountId: account.id,
    data: { service: input.service, thirdPartyAccountId: partner.accountId },
  });
  const created: NewEvent<"auth.intentCreated"> = {
    type: "auth.intentCreated",
    resource: `intent/${id}`,
    data: { _id: id, kind: "partner", accountId: account.id },
  };
  await rejectTakenEmail(() => commitIfUnchanged(ctx, [...changes, insert], created, ...events));
  return { token, expiresAt };
}

/** Finds the account that a partner's intent signs in. */
export async function redeemPartnerIntent(ctx: Ctx, intent: IntentRow): Promise<Redemption> {
  const { service, thirdPartyAccountId } = PartnerData.parse(intent.data);
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(ownRow(ctx, accounts, intent.accountId ?? ""));
  if (!account) throw notFound("The account no longer exists");
  return { account, service, thirdPartyAccountId, changes: [], events: [] };
}

const PartnerData = z.object({ service: z.string(), thirdPartyAccountId: z.string() });

interface AccountPlan {
  account: AccountRow;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

/** Verifies a linked account's address if the partner now asserts it. */
function planLinked(ctx: Ctx, linked: AccountRow, partner: Partner): AccountPlan {
  if (partner.email !== linked.email || linked.emailVerified !== null) return { account: linked, changes: [], events: [] };
  return verifyByPartner(ctx, linked, partner);
}

/** Links the account with the partner's verified address, or creates one. */
async function linkOrCreate(ctx: Ctx, partner: Partner): Promise<AccountPlan> {
  const existing = partner.email === undefined ? undefined : await findByEmail(ctx, partner.email);
  if (existing) return linkExisting(ctx, existing, partner);
  const email = partner.email ?? placeholderEmail(newId(ctx.now));
  const row = await newAccount(ctx, { email, name: partner.name, marketingOptin: false }, []);
  const account = {
    ...row,
    thirdPartyAuthProviders: [linkOf(partner)],
    emailVerified: partner.email === undefined ? null : ctx.now,
    trusted: true,
  };
  return { account, changes: insertAccount(ctx, account), events: [accountEvent("new_account", account)] };
}

/** Only an admin can link an account with roles. */
function linkExisting(ctx: Ctx, current: AccountRow, partner: Partner): AccountPlan {
  if (current.roles.length > 0) throw conflict("The account with this email address has roles; only an admin can link it to a provider");
  return verifyByPartner(ctx, current, partner);
}

function linkOf({ provider, accountId }: Partner): ThirdPartyProvider {
  return { provider, accountId };
}

/**
 * Marks an account's address as verified by a partner. If the account isn't trusted yet, its password, sessions and other links are voided:
 * they may belong to someone who signed up with another person's address, or have been planted by a key.
 */
function verifyByPartner(ctx: Ctx, current: AccountRow, partner: Partner): AccountPlan {
  const link = linkOf(partner);
  const others = current.thirdPartyAuthProviders.filter(
    ({ provider, accountId }) => provider !== link.provider || accountId !== link.accountId,
  );
  const links = current.trusted ? [...others, link] : [link];
  const voided = current.trusted ? { columns: {}, changes: [], events: [] } : voidCredentials(ctx, current, links);
  const account: AccountRow = {
    ...current,
    ...voided.columns,
    thirdPartyAuthProviders: links,
    emailVerified: current.emailVerified ?? ctx.now,
    trusted: true,
    ...nextVersion(ctx, current),
  };
  const verified = current.emailVerified === null ? [verifiedEvent(ctx, current.id, "partner")] : [];
  return {
    account,
    changes: [...replaceAccount(ctx, current, account), ...voided.changes],
    events: [accountEvent("account.updated", account), ...verified, ...voided.events],
  };
}

async function findByEmail(ctx: Ctx, email: string): Promise<AccountRow | undefined> {
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(and(eq(accounts.siteId, ctx.siteId), eq(accounts.email, email)));
  return account;
}

/** Verifies a partner's token per RFC 8725: allowed algorithms, the partner's own keys, audience, subject and expiry. */
async function verifyPartnerToken(
  ctx: Ctx,
  provider: { jwksUrl: string; audience: string },
  { jwt, thirdPartyAccountId }: CreateIntent,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(jwt, keysAt(ctx.env, provider.jwksUrl), {
      algorithms: ALGORITHMS,
      audience: provider.audience,
      subject: thirdPartyAccountId,
      requiredClaims: ["exp"],
      currentDate: new Date(ctx.now),
    });
    return payload;
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw unauthenticated("The partner's token is expired, is for another audience or person, or isn't signed with the provider's keys");
  }
}

const VerifiedEmail = z.object({ email: z.email().max(254), email_verified: z.literal(true) });

function verifiedEmail(claims: JWTPayload): string | undefined {
  const { data } = VerifiedEmail.safeParse(claims);
  const email = data && normalizeEmail(data.email);
  return email === undefined || isPlaceholderEmail(email) ? undefined : email;
}

// Partners' public keys, shared by requests; jose refreshes them.
const keySets = new Map<string, JWTVerifyGetKey>();

function keysAt(env: Env, url: string): JWTVerifyGetKey {
  let keys = keySets.get(url);
  if (!keys) {
    if (keySets.size >= MAX_KEY_SETS) keySets.clear();
    keys = createRemoteJWKSet(new URL(url), { [customFetch]: (address) => fetchKeys(env, address) });
    keySets.set(url, keys);
  }
  return keys;
}

async function fetchKeys(env: Env, url: string): Promise<Response> {
  const { status, text } = await callPublic(env, url, { headers: { Accept: "application/json" } }, { timeout: 5_000 });
  if (status !== 200) throw new SiteHostFailure("unavailable", "The provider's jwksUrl didn't return its keys");
  return new Response(text, { status });
}
