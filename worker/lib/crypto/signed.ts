import { fromBase64Url, hmacKey, secretsOf, toBase64Url } from "./crypto.ts";

const text = new TextEncoder();

/** `<content>.<signature>`, signed with the deployment's key for that purpose: a token that needn't be stored to be verified. */
export async function signContent(env: { TIFO_SECRET: string }, purpose: string, content: string): Promise<string> {
  const [secret] = secretsOf(env);
  const signature = await crypto.subtle.sign("HMAC", await hmacKey(secret, purpose), text.encode(content));
  return `${content}.${toBase64Url(new Uint8Array(signature))}`;
}

/** The content of such a token; undefined if its signature is invalid or for another purpose. */
export async function readSigned(env: { TIFO_SECRET: string }, purpose: string, token: string): Promise<string | undefined> {
  const end = token.lastIndexOf(".");
  const content = token.slice(0, Math.max(0, end));
  const encoded = token.slice(end + 1);
  const signature = fromBase64Url(encoded);
  // Decoding ignores foreign characters and unused bits; accept only the canonical encoding.
  if (toBase64Url(signature) !== encoded) return undefined;
  for (const secret of secretsOf(env)) {
    if (await crypto.subtle.verify("HMAC", await hmacKey(secret, purpose), signature, text.encode(content))) return content;
  }
  return undefined;
}
