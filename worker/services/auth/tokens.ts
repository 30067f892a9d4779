import { createLocalJWKSet, exportJWK, type JWK, jwtVerify, SignJWT } from "jose";
import { deriveBits, secretsOf, sha256 } from "#worker/lib/crypto/crypto.ts";
import { unauthenticated } from "#worker/lib/errors.ts";

/** How long a JWT is valid; a refresh token returns the next one. */
export const JWT_SECONDS = 600;
export const GLOBAL_AUDIENCE = "global";
const ISSUER = "tifo";
const ALGORITHM = "EdDSA";
// PKCS #8 wrapping of an Ed25519 seed (RFC 8410).
const ED25519_PKCS8 = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export interface TokenClaims {
  accountId: string;
  /** A site id, or "global". */
  audience: string;
  sessionId: string;
  passwordVersion: number;
}

// Keys are derived only from the deployment's secret, so they can outlive a request. Not promises: another request's may never settle.
const keySets = new Map<string, SigningKey[]>();

/** The deployment's signing keys, current first, derived from its secrets so that nothing has to be stored. */
async function signingKeys(env: { TIFO_SECRET: string }): Promise<SigningKey[]> {
  const known = keySets.get(env.TIFO_SECRET);
  if (known) return known;
  const keys = await Promise.all(secretsOf(env).map(deriveSigningKey));
  keySets.set(env.TIFO_SECRET, keys);
  return keys;
}

async function deriveSigningKey(secret: string): Promise<SigningKey> {
  const seed = await deriveBits(secret, "jwt");
  const pkcs8 = new Uint8Array([...ED25519_PKCS8, ...seed]);
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "Ed25519" }, true, ["sign"]);
  const { x = "" } = await exportJWK(privateKey);
  const kid = (await sha256(x)).slice(0, 16);
  return { kid, privateKey, publicJwk: { kty: "OKP", crv: "Ed25519", alg: ALGORITHM, use: "sig", kid, x } };
}

/** The public keys, as `/.well-known/jwks.json` shows them. */
export async function publicKeys(env: { TIFO_SECRET: string }): Promise<JWK[]> {
  return (await signingKeys(env)).map((key) => key.publicJwk);
}

export async function signToken(env: { TIFO_SECRET: string }, claims: TokenClaims, now: number): Promise<string> {
  const [current] = await signingKeys(env);
  if (!current) throw new Error("No signing key");
  const issuedAt = Math.floor(now / 1000);
  return new SignJWT({ sid: claims.sessionId, pv: claims.passwordVersion })
    .setProtectedHeader({ alg: ALGORITHM, kid: current.kid, typ: "JWT" })
    .setIssuer(ISSUER)
    .setAudience(claims.audience)
    .setSubject(claims.accountId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + JWT_SECONDS)
    .sign(current.privateKey);
}

// Cached like the keys: a new set would import them again for each token.
const verifiers = new Map<string, ReturnType<typeof createLocalJWKSet>>();

async function verifierOf(env: { TIFO_SECRET: string }): Promise<ReturnType<typeof createLocalJWKSet>> {
  let keys = verifiers.get(env.TIFO_SECRET);
  if (!keys) {
    keys = createLocalJWKSet({ keys: await publicKeys(env) });
    verifiers.set(env.TIFO_SECRET, keys);
  }
  return keys;
}

/** Verifies signature, algorithm, issuer, audience and expiry (RFC 8725); the 401 doesn't say which check failed. */
export async function verifyToken(env: { TIFO_SECRET: string }, token: string): Promise<TokenClaims> {
  const keys = await verifierOf(env);
  try {
    const { payload } = await jwtVerify(token, keys, { algorithms: [ALGORITHM], issuer: ISSUER, requiredClaims: ["sub", "aud", "exp"] });
    const { sub, aud, sid, pv } = payload;
    if (typeof sub !== "string" || typeof aud !== "string" || typeof sid !== "string" || typeof pv !== "number") throw new Error("claims");
    return { accountId: sub, audience: aud, sessionId: sid, passwordVersion: pv };
  } catch {
    throw unauthenticated("The bearer token is missing, invalid or expired");
  }
}
