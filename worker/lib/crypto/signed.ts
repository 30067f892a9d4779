import { fromBase64Url, hmacKey, secretsOf, toBase64Url } from "./crypto.ts";

const text = new TextEncoder();

/** `<content>.<signature>`, by the deployment's key of that purpose: a token that need not be stored to be known again. */
export async function signContent(env: { TIFO_SECRET: string }, purpose: string, content: string): Promise<string> {
  const [secret] = secretsOf(env);
  const signature = await crypto.subtle.sign("HMAC", await hmacKey(secret, purpose), text.encode(content));
  return `${content}.${toBase64Url(new Uint8Array(signature))}`;
}

/** The content of such a token; undefined when it isn't one of ours, or of another purpose. */
export async function readSigned(env: { TIFO_SECRET: string }, purpose: string, token: string): Promise<string | undefined> {
  const end = token.lastIndexOf(".");
  const content = token.slice(0, Math.max(0, end));
  const written = token.slice(end + 1);
  const signature = fromBase64Url(written);
  // Decoding overlooks foreign characters and unused bits: one signature shall have one spelling.
  if (toBase64Url(signature) !== written) return undefined;
  for (const secret of secretsOf(env)) {
    if (await crypto.subtle.verify("HMAC", await hmacKey(secret, purpose), signature, text.encode(content))) return content;
  }
  return undefined;
}
