import { and, eq } from "drizzle-orm";
import { type D1Usage, createDb } from "#db/client.ts";
import { type DataProviderRow, dataProviders } from "#db/schema/index.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { notFound, unauthenticated } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { checkSite, type IdentityCheck } from "#worker/services/auth/identity.ts";

const PURPOSE = "data provider";
/** Seconds for which a signed time counts. */
const WINDOW = 300;

/** What a data provider's call shows. */
export interface Signed {
  signature: string;
  timestamp: string | undefined;
  content: Uint8Array;
}

/** A secret as it is kept. */
export function sealSecret(env: { TIFO_SECRET: string }, secret: string): Promise<string> {
  return seal(env, PURPOSE, secret);
}

/**
 * A data provider of the site, by its signature (401), which is known only after its row (404) was read: so this check asks D1 itself,
 * and hands the row on.
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
  // Validation refuses it, and verbs take nobody but a provider.
  if (!ID_PATTERN.test(providerId)) return site;
  const [provider] = await createDb(env.DB, undefined, usage)
    .select()
    .from(dataProviders)
    .where(and(eq(dataProviders.siteId, siteId), eq(dataProviders.id, providerId)));
  if (!provider) return { ...site, confirm: (row) => refuse(site, row) };
  if (!(await isSignedBy(env, provider, signed, now))) throw unauthenticated("Invalid signature");
  return { confirm: () => ({ kind: "dataProvider", id: provider.id, provider }) };
}

/** There is no such provider, or not even such a site. */
function refuse(site: IdentityCheck, row: unknown[] | undefined): never {
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
  return timestamp === undefined || (/^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= WINDOW);
}

/** The secret and, for a while after a rotation, the one before. */
function sealedSecrets({ secretSealed, previousSecretSealed, previousExpires }: DataProviderRow, now: number): string[] {
  return previousSecretSealed !== null && (previousExpires ?? 0) > now ? [secretSealed, previousSecretSealed] : [secretSealed];
}
