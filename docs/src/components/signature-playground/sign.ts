const text = new TextEncoder();

/** Hex HMAC-SHA256 of a text: the `Tifo-Signature` of data providers and the `signature` of webhooks. */
export async function hexSignature(secret: string, content: string): Promise<string> {
  return [...(await hmac(text.encode(secret), content))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The content that a data provider signs: the body, preceded by the timestamp if there is one. */
export function signedContent(body: string, timestamp: string): string {
  return timestamp === "" ? body : `${timestamp}.${body}`;
}

/** A `webhook-signature` entry as defined by Standard Webhooks. Throws if the secret isn't `whsec_` followed by base64. */
export async function standardSignature(secret: string, id: string, timestamp: string, body: string): Promise<string> {
  const key = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (character) => character.charCodeAt(0));
  return `v1,${btoa(String.fromCharCode(...(await hmac(key, `${id}.${timestamp}.${body}`))))}`;
}

async function hmac(secret: Uint8Array<ArrayBuffer>, content: string): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, text.encode(content)));
}
