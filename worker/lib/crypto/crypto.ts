import nodeCrypto, { randomBytes, timingSafeEqual } from "node:crypto";
import { toHex } from "#worker/lib/ids.ts";

const text = new TextEncoder();

// Workers reject more than N*r*p = 2^20; these are OWASP's parameters for 16 MiB.
const SCRYPT = { ln: 14, r: 8, p: 5 };

/** SHA-256 as hex: how secrets that are only compared are stored. */
export async function sha256(value: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", text.encode(value))));
}

/** Compares two strings in a time that depends only on their lengths. */
export function equalInConstantTime(a: string, b: string): boolean {
  const left = text.encode(a);
  const right = text.encode(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** An unguessable token: `bytes` random bytes in base64url. */
export function randomToken(bytes = 32): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}

export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

export function fromBase64Url(value: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(value, "base64url"));
}

/** 32 bytes for one purpose, derived from the deployment's secret by HKDF (RFC 5869). */
export async function deriveBits(secret: string, purpose: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", text.encode(secret), "HKDF", false, ["deriveBits"]);
  const info = text.encode(`tifo ${purpose}`);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info }, key, 256));
}

// Small: few purposes, one or two secrets. Stores keys, not promises: another request's promise may never settle.
const hmacKeys = new Map<string, CryptoKey>();

/** The HMAC-SHA256 key of one purpose, derived once per isolate so that not every ticket pays for it. */
export async function hmacKey(secret: string, purpose: string): Promise<CryptoKey> {
  const name = JSON.stringify([secret, purpose]);
  const known = hmacKeys.get(name);
  if (known) return known;
  const key = await crypto.subtle.importKey("raw", await deriveBits(secret, purpose), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
    "verify",
  ]);
  hmacKeys.set(name, key);
  return key;
}

/** `TIFO_SECRET` is the current secret and, after a comma, the previous one, which can still decrypt and verify. */
export function secretsOf(env: { TIFO_SECRET: string }): [current: string, ...previous: string[]] {
  const [current, ...previous] = env.TIFO_SECRET.split(",").filter((secret) => secret.trim() !== "");
  // Anyone could sign with an empty secret.
  if (current === undefined) throw new Error("TIFO_SECRET is empty");
  return [current, ...previous];
}

/** Encrypts a text with AES-GCM under a key for this purpose; the result is base64url of a 12-byte nonce and the ciphertext. */
export async function seal(env: { TIFO_SECRET: string }, purpose: string, value: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const key = await sealKey(secretsOf(env)[0], purpose);
  const encrypted = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, text.encode(value)));
  return toBase64Url(new Uint8Array([...iv, ...encrypted]));
}

/** Decrypts what `seal` encrypted, with the current or a previous secret. */
export async function open(env: { TIFO_SECRET: string }, purpose: string, sealed: string): Promise<string> {
  const bytes = fromBase64Url(sealed);
  for (const secret of secretsOf(env)) {
    const algorithm = { name: "AES-GCM", iv: bytes.subarray(0, 12) };
    const opened = await crypto.subtle.decrypt(algorithm, await sealKey(secret, purpose), bytes.subarray(12)).catch(() => null);
    if (opened) return new TextDecoder().decode(opened);
  }
  throw new Error(`Sealed for ${purpose} with a secret that is no longer configured`);
}

async function sealKey(secret: string, purpose: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", await deriveBits(secret, `seal ${purpose}`), "AES-GCM", false, ["encrypt", "decrypt"]);
}

/** Keyed hashes for looking up a sealed text: store the first, search for any, because the secret may have changed. */
export async function lookUpHashes(env: { TIFO_SECRET: string }, purpose: string, value: string): Promise<[string, ...string[]]> {
  const [current, ...previous] = secretsOf(env);
  const hash = (secret: string): Promise<string> => keyedHash(secret, `look up ${purpose}`, value);
  return [await hash(current), ...(await Promise.all(previous.map(hash)))];
}

async function keyedHash(secret: string, purpose: string, value: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await hmacKey(secret, purpose), text.encode(value))));
}

/** Hashes a password with scrypt into a PHC string. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await scryptHash(password, salt, SCRYPT);
  return `$scrypt$ln=${SCRYPT.ln},r=${SCRYPT.r},p=${SCRYPT.p}$${base64(salt)}$${base64(hash)}`;
}

/** Whether the password matches the hash; `stale` if it should be rehashed with the current parameters. */
export async function verifyPassword(password: string, phc: string): Promise<{ valid: boolean; stale: boolean }> {
  const match = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(phc);
  if (!match) return { valid: false, stale: false };
  const [, ln, r, p, salt = "", expected = ""] = match;
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
  const hash = await scryptHash(password, Buffer.from(salt, "base64"), parameters);
  const stale = parameters.ln !== SCRYPT.ln || parameters.r !== SCRYPT.r || parameters.p !== SCRYPT.p;
  return { valid: equalInConstantTime(base64(hash), expected), stale };
}

function scryptHash(password: string, salt: Uint8Array, { ln, r, p }: typeof SCRYPT): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Called through the module, so that tests can count it.
    nodeCrypto.scrypt(password.normalize("NFKC"), salt, 32, { N: 2 ** ln, r, p, maxmem: 2 ** 26 }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}
