import { and, eq } from "drizzle-orm";
import type { D1Usage } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { type DataProviderRow, dataProviders } from "#db/schema/data-providers.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { notFound, unauthenticated } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { checkSite, type IdentityCheck } from "#worker/services/auth/identity.ts";

const PURPOSE = "data provider";
/** How far a signed timestamp may be from now. */
const TOLERANCE_SECONDS = 300;

/** The signature of a data provider's request. */
export interface Signed {
  signature: string;
  timestamp: string | undefined;
  content: Uint8Array;
}

/** Seals a secret for storage. */
export function sealSecret(env: { TIFO_SECRET: string }, secret: string): Promise<string> {
  return seal(env, PURPOSE, secret);
}

/**
 * Authenticates a data provider of the site by its signature (401), which can only be verified after reading its row (404): so this check
 * queries D1 itself, and passes the row on.
 */
export async function checkDataProvider(
  env: Env,
  siteId: string,
  providerId: string,
  signed: Signed,
  now: number,
  usage: D1Usage,
): Promise<IdentityCheck> {
  const site = checkSite(siteId);
  // Validation rejects the request later, and the verbs require a provider anyway.
  if (!ID_PATTERN.test(providerId)) return site;
  const [provider] = await siteDb(env, siteId, undefined, usage)
    .select()
    .from(dataProviders)
    .where(and(eq(dataProviders.siteId, siteId), eq(dataProviders.id, providerId)));
  if (!provider) return { ...site, confirm: (row) => throwNotFound(site, row) };
  if (!(await isSignedBy(env, provider, signed, now))) throw unauthenticated("Invalid signature");
  return { siteId, confirm: () => ({ kind: "dataProvider", id: provider.id, provider }) };
}

/** Throws for an unknown provider, or an unknown site. */
function throwNotFound(site: IdentityCheck, row: unknown[] | undefined): never {
  site.confirm(row);
  throw notFound("Data provider not found");
}

async function isSignedBy(env: Env, provider: DataProviderRow, { signature, timestamp, content }: Signed, now: number): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/i.test(signature) || !isCurrent(timestamp, now)) return false;
  const prefix = new TextEncoder().encode(timestamp === undefined ? "" : `${timestamp}.`);
  const message = new Uint8Array([...prefix, ...content]);
  for (const sealed of sealedSecrets(provider, now)) {
    const secret = new TextEncoder().encode(await open(env, PURPOSE, sealed));
    const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    if (await crypto.subtle.verify("HMAC", key, Buffer.from(signature, "hex"), message)) return true;
  }
  return false;
}

function isCurrent(timestamp: string | undefined, now: number): boolean {
  return timestamp === undefined || (/^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS);
}

/** The current secret and, for a while after a rotation, the previous one. */
function sealedSecrets({ secretSealed, previousSecretSealed, previousExpires }: DataProviderRow, now: number): string[] {
  return previousSecretSealed !== null && (previousExpires ?? 0) > now ? [secretSealed, previousSecretSealed] : [secretSealed];
}
