import type { Context, HonoRequest } from "hono";
import { invalid, unauthenticated } from "#worker/lib/errors.ts";
import { checkDataProvider } from "#worker/services/data-providers/provider-signatures.ts";
import {
  checkBearer,
  checkDeveloperKey,
  checkProvider,
  checkSite,
  checkSuperKey,
  type IdentityCheck,
} from "#worker/services/auth/identity.ts";
import type { AppEnv } from "#worker/http/app-env.ts";
import { type CredentialKind, type Credentials, SECURITY_SCHEMES } from "#worker/http/credentials.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The credentials that a request presents. Read lazily, and once: most operations accept one kind, and each header costs time. */
export class Presented implements Partial<Record<CredentialKind, string>> {
  readonly #request: HonoRequest;
  readonly #headers: Headers;
  #client: { id: string | undefined } | undefined;

  constructor(request: HonoRequest) {
    this.#request = request;
    this.#headers = request.raw.headers;
  }

  get client(): string | undefined {
    this.#client ??= { id: this.#header("Tifo-Client-Id") };
    return this.#client.id;
  }

  get clientQuery(): string | undefined {
    return this.#request.query("clientId");
  }

  get developer(): string | undefined {
    return this.#header("Tifo-Developer-Key");
  }

  get bearer(): string | undefined {
    const authorization = this.#header("Authorization");
    return authorization === undefined ? undefined : (/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? "");
  }

  /** A stream provider's bearer, which looks different from an account's. */
  get provider(): string | undefined {
    const { bearer } = this;
    return bearer !== undefined && UUID.test(bearer) ? bearer : undefined;
  }

  get signature(): string | undefined {
    return this.#header("Tifo-Signature");
  }

  get stripeSignature(): string | undefined {
    return this.#header("Stripe-Signature");
  }

  get shopifySignature(): string | undefined {
    return this.#header("X-Shopify-Hmac-Sha256");
  }

  get super(): string | undefined {
    return this.#header("Tifo-Super-Key");
  }

  get device(): string | undefined {
    return this.#header("Tifo-Device-Id");
  }

  #header(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }
}

/**
 * The first set that is presented completely, except for the device, whose absence is a 400. Without one: what is presented may be valid
 * but of the wrong kind (403), or missing (401).
 */
export function chooseCredentials(accepted: Credentials, presented: Presented): { kinds: readonly CredentialKind[]; wrongKind: boolean } {
  const complete = accepted.find((kinds) => kinds.every((kind) => kind === "device" || presented[kind] !== undefined));
  if (complete) return { kinds: complete, wrongKind: false };
  if (accepted.some((kinds) => kinds.includes("clientQuery"))) throw invalid("clientId", "The query parameter clientId is required");
  const other = (["developer", "bearer", "super"] as const).find((kind) => presented[kind] !== undefined);
  const ofOther = accepted.filter((kinds) => other !== undefined && kinds.includes(other));
  const needsClient = (ofOther.length > 0 ? ofOther : accepted).every((kinds) => kinds.includes("client"));
  if (other === undefined || (needsClient && presented.client === undefined)) {
    throw unauthenticated(`Missing credentials; send one of these sets: ${describe(accepted)}`);
  }
  return { kinds: other === "super" ? ["super"] : ["client", other], wrongKind: true };
}

/** The site that the chosen set is for; empty without one. */
export function siteIdOf(kinds: readonly CredentialKind[], presented: Presented): string {
  return (kinds.includes("clientQuery") ? presented.clientQuery : presented.client) ?? "";
}

/** The identity check for a chosen set; `unknownSite` is the message of a 404 in place of the 401. */
export async function checkCredentials(
  c: Context<AppEnv>,
  kinds: readonly CredentialKind[],
  presented: Presented,
  now: number,
  unknownSite: string | undefined,
): Promise<IdentityCheck> {
  const siteId = siteIdOf(kinds, presented);
  const value = (kind: CredentialKind) => presented[kind] ?? "";
  if (kinds.includes("super")) {
    const operator = await checkSuperKey(c.env, value("super"), foreignOrigin(c));
    return kinds.includes("client") ? checkBoth(checkSite(siteId, unknownSite), operator) : operator;
  }
  if (kinds.includes("signature")) {
    const providerId = c.req.param("id") ?? c.req.param("providerId") ?? "";
    const signed = {
      signature: value("signature"),
      timestamp: c.req.header("Tifo-Timestamp"),
      content: await signedContent(c, providerId),
    };
    return checkDataProvider(c.env, siteId, providerId, signed, now, c.get("usage"));
  }
  if (kinds.includes("developer")) return checkDeveloperKey(siteId, value("developer"), foreignOrigin(c), now);
  if (kinds.includes("provider")) return checkProvider(c.env, presented.client, value("provider"));
  if (kinds.includes("bearer")) return checkBearer(c.env, presented.client, value("bearer"));
  if (kinds.includes("client") || kinds.includes("clientQuery")) return checkSite(siteId, unknownSite);
  return { siteId, provesSite: false, confirm: () => ({ kind: "anonymous" }) };
}

/** Checks the operator and that the site exists; the operator's own check needs no D1 query. */
function checkBoth(site: IdentityCheck, operator: IdentityCheck): IdentityCheck {
  return {
    ...site,
    confirm(row) {
      site.confirm(row);
      return operator.confirm(undefined);
    },
  };
}

/** What a data provider signs: the body or, without one, its own id. */
async function signedContent(c: Context, providerId: string): Promise<Uint8Array> {
  return c.req.method === "DELETE" ? new TextEncoder().encode(providerId) : new Uint8Array(await c.req.arrayBuffer());
}

/** The Origin header of a cross-origin browser request. */
function foreignOrigin(c: Context): string | undefined {
  const origin = c.req.header("Origin");
  return origin === undefined || origin === new URL(c.req.url).origin ? undefined : origin;
}

function describe(accepted: Credentials): string {
  return accepted.map((kinds) => kinds.map((kind) => nameOf(kind)).join(" with ")).join(", or ");
}

function nameOf(kind: CredentialKind): string {
  const scheme = SECURITY_SCHEMES[kind];
  return "name" in scheme ? scheme.name : "Authorization: Bearer";
}
