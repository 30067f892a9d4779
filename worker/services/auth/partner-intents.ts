import { and, eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { z } from "@hono/zod-openapi";
import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";
import { type AccountRow, accounts, type IntentRow } from "#db/schema/index.ts";
import type { ThirdPartyProvider } from "#db/types.ts";
import { callPublic } from "#worker/integrations/public-host.ts";
import { conflict, Failure, invalid, notFound, unauthenticated } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import type { CreateIntent } from "./schemas.ts";
import { accountColumns } from "#worker/services/accounts/columns.ts";
import { findLinked } from "#worker/services/accounts/links.ts";
import { replaceAccount } from "#worker/services/accounts/accounts.ts";
import {
  accountEvent,
  insertAccount,
  isStandIn,
  newAccount,
  normalizeEmail,
  refuseTakenEmail,
  standInEmail,
} from "#worker/services/accounts/account-rows.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, nextVersion, ownRow } from "#worker/services/core/context.ts";
import { voidCredentials } from "#worker/services/accounts/credentials.ts";
import { verifiedEvent } from "#worker/services/accounts/email-proofs.ts";
import { newIntent, type Redemption } from "./intent-rows.ts";
import { getSite } from "#worker/services/sites/current-site.ts";

const ALGORITHMS = ["EdDSA", "ES256", "RS256"];
const MOST_KEY_SETS = 200;

/** A person who comes from a partner, as the partner's own signature says. */
interface Partner {
  provider: string;
  accountId: string;
  name: string;
  /** Only one that the partner has verified. */
  email: string | undefined;
}

/** Turns a partner's signed token into an account, a new one or the one linked to it, and answers the token that signs it in once. */
export async function createPartnerIntent(ctx: Ctx, input: CreateIntent): Promise<{ token: string; expiresAt: number }> {
  const site = await getSite(ctx);
  const provider = site.settings.security.providers.find(({ name }) => name === input.provider);
  if (!provider) throw invalid("provider", "The site has registered no provider of this name");
  const claims = await verifyPartnerToken(ctx, provider, input);
  const partner = { provider: input.provider, accountId: input.thirdPartyAccountId, name: input.name, email: verifiedEmail(claims) };
  const linked = await findLinked(ctx, partner.provider, partner.accountId);
  const { account, changes, events } = await (linked ? signInLinked(ctx, linked, partner) : join(ctx, partner));
  const { id, token, expiresAt, insert } = await newIntent(ctx, {
    kind: "partner",
    accountId: account.id,
    data: { service: input.service, thirdPartyAccountId: partner.accountId },
  });
  const created = { type: "auth.intentCreated", resource: `intent/${id}`, data: { _id: id, kind: "partner", accountId: account.id } };
  await refuseTakenEmail(() => commitIfUnchanged(ctx, [...changes, insert], created, ...events));
  return { token, expiresAt };
}

/** Whom a partner's intent signs in. */
export async function redeemPartnerIntent(ctx: Ctx, intent: IntentRow): Promise<Redemption> {
  const { service, thirdPartyAccountId } = PartnerData.parse(intent.data);
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(ownRow(ctx, accounts, intent.accountId ?? ""));
  if (!account) throw notFound("The account is gone");
  return { account, service, thirdPartyAccountId, changes: [], events: [] };
}

const PartnerData = z.object({ service: z.string(), thirdPartyAccountId: z.string() });

interface Joining {
  account: AccountRow;
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

/** A linked account, whose address the partner may prove now. */
function signInLinked(ctx: Ctx, linked: AccountRow, partner: Partner): Joining {
  if (partner.email !== linked.email || linked.emailVerified !== null) return { account: linked, changes: [], events: [] };
  return prove(ctx, linked, partner);
}

/** Links the account of the partner's verified e-mail, or makes one. */
async function join(ctx: Ctx, partner: Partner): Promise<Joining> {
  const known = partner.email === undefined ? undefined : await findByEmail(ctx, partner.email);
  if (known) return joinKnown(ctx, known, partner);
  const email = partner.email ?? standInEmail(newId(ctx.now));
  const fresh = await newAccount(ctx, { email, name: partner.name, marketingOptin: false }, []);
  const account = {
    ...fresh,
    thirdPartyAuthProviders: [linkOf(partner)],
    emailVerified: partner.email === undefined ? null : ctx.now,
    trusted: true,
  };
  return { account, changes: insertAccount(ctx, account), events: [accountEvent("new_account", account)] };
}

/** An account with roles is linked by an admin alone. */
function joinKnown(ctx: Ctx, known: AccountRow, partner: Partner): Joining {
  if (known.roles.length > 0) throw conflict("An account with this e-mail has roles here; only an admin links it to a provider");
  return prove(ctx, known, partner);
}

function linkOf({ provider, accountId }: Partner): ThirdPartyProvider {
  return { provider, accountId };
}

/**
 * What follows when a partner proves an account's address. If the account isn't trusted yet, its password, sessions and other links end
 * here: they may be those of somebody who signed up under a stranger's address, or that a key has planted.
 */
function prove(ctx: Ctx, known: AccountRow, partner: Partner): Joining {
  const link = linkOf(partner);
  const others = known.thirdPartyAuthProviders.filter(
    ({ provider, accountId }) => provider !== link.provider || accountId !== link.accountId,
  );
  const links = known.trusted ? [...others, link] : [link];
  const voided = known.trusted ? { columns: {}, changes: [], events: [] } : voidCredentials(ctx, known, links);
  const account: AccountRow = {
    ...known,
    ...voided.columns,
    thirdPartyAuthProviders: links,
    emailVerified: known.emailVerified ?? ctx.now,
    trusted: true,
    ...nextVersion(ctx, known),
  };
  const verified = known.emailVerified === null ? [verifiedEvent(ctx, known.id, "partner")] : [];
  return {
    account,
    changes: [...replaceAccount(ctx, known, account), ...voided.changes],
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

/** Checks a partner's token as RFC 8725 asks: our list of algorithms, the partner's own keys, audience, subject and expiry. */
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
    throw unauthenticated("The partner's token is expired, of another audience or person, or not signed by the provider's keys");
  }
}

const VerifiedEmail = z.object({ email: z.email().max(254), email_verified: z.literal(true) });

function verifiedEmail(claims: JWTPayload): string | undefined {
  const { data } = VerifiedEmail.safeParse(claims);
  const email = data && normalizeEmail(data.email);
  return email === undefined || isStandIn(email) ? undefined : email;
}

// Public keys of partners, which jose keeps fresh; they belong to no request.
const keySets = new Map<string, JWTVerifyGetKey>();

function keysAt(env: Env, url: string): JWTVerifyGetKey {
  let keys = keySets.get(url);
  if (!keys) {
    if (keySets.size >= MOST_KEY_SETS) keySets.clear();
    keys = createRemoteJWKSet(new URL(url), { [customFetch]: (address) => fetchKeys(env, address) });
    keySets.set(url, keys);
  }
  return keys;
}

async function fetchKeys(env: Env, url: string): Promise<Response> {
  const { status, text } = await callPublic(env, url, { headers: { Accept: "application/json" } }, { timeout: 5_000 });
  if (status !== 200) throw new Failure("unavailable", "The provider's jwksUrl does not answer its keys");
  return new Response(text, { status });
}
