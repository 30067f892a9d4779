const text = new TextEncoder();
/** Of a UTF-16 unit in UTF-8. */
const MOST_BYTES = 3;
const scratch = new Uint8Array(64 * 1024);

/** The keys that a secret stands for. */
export interface SigningKeys {
  /** Of `signature`: the secret's text as it was shown. */
  shown: CryptoKey;
  /** Of the Standard Webhooks header: the bytes behind the prefix. */
  standard: CryptoKey;
}

/** A new signing secret: `whsec_` and 32 random bytes in base64, as Standard Webhooks has them. */
export function newWebhookSecret(): string {
  return `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
}

/** Made once per endpoint, since making them costs more than signing. */
export async function signingKeys(secret: string): Promise<SigningKeys> {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const [shown, standard] = await Promise.all([hmacKey(text.encode(secret)), hmacKey(bytes)]);
  return { shown, standard };
}

/** The `signature` of a payload: hex HMAC-SHA256 of the JSON text of its `eventData`, keyed by the secret's text as it was shown. */
export async function signEventData({ shown }: SigningKeys, eventData: string): Promise<string> {
  return Buffer.from(await sign(shown, eventData)).toString("hex");
}

/**
 * The headers of Standard Webhooks 1.0; `at` in milliseconds. Signed with the keys of each secret, so that a receiver may know any of them.
 * Its own library, which our tests verify with, signs in JavaScript; the platform does so in a tenth of the time.
 */
export async function standardHeaders(keys: SigningKeys[], id: string, at: number, body: string): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const content = `${id}.${timestamp}.${body}`;
  const signatures = await Promise.all(keys.map(({ standard }) => standardSignature(standard, content)));
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

async function standardSignature(key: CryptoKey, content: string): Promise<string> {
  return `v1,${Buffer.from(await sign(key, content)).toString("base64")}`;
}

async function sign(key: CryptoKey, content: string): Promise<ArrayBuffer> {
  return crypto.subtle.sign("HMAC", key, bytesOf(content));
}

/** UTF-8, good until the next call: Web Crypto takes a copy at once, and a new buffer for each text costs more than the signature. */
function bytesOf(content: string): Uint8Array {
  if (content.length * MOST_BYTES > scratch.length) return text.encode(content);
  return scratch.subarray(0, text.encodeInto(content, scratch).written);
}

async function hmacKey(bytes: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}
