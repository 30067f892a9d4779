import { createPrivateKey } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { importJWK, type JWTPayload, SignJWT } from "jose";
import type { PlaybackSettings } from "#db/types.ts";
import { fromBase64Url } from "#worker/lib/crypto/crypto.ts";
import { toHex } from "#worker/lib/ids.ts";
import { parseJson } from "#worker/lib/json.ts";

// Signed playback URLs: JWTs with RS256 for Mux and Cloudflare Stream, an HMAC for your own CDN.

export type PlaybackProvider = PlaybackSettings["provider"];

const ALGORITHM = "RS256";
const MIN_SECRET = 32;
const MIN_MODULUS_BYTES = 256;

const RsaJwk = z.object({
  kty: z.literal("RSA"),
  n: z.string(),
  e: z.string(),
  d: z.string(),
  p: z.string(),
  q: z.string(),
  dp: z.string(),
  dq: z.string(),
  qi: z.string(),
});

/** A signing key in canonical form, ready to be sealed: the secret itself, or an RSA key as a JWK. Undefined if invalid for the provider. */
export function readSigningKey(provider: PlaybackProvider, text: string): string | undefined {
  if (provider === "hmac") return text.length >= MIN_SECRET ? text : undefined;
  const jwk = RsaJwk.safeParse(readRsaKey(text.trim())).data;
  return jwk && fromBase64Url(jwk.n).length >= MIN_MODULUS_BYTES ? JSON.stringify(jwk) : undefined;
}

/** Reads PEM or JWK, plain or in base64, the formats that providers issue. */
function readRsaKey(text: string): unknown {
  const plain = /^(-----BEGIN|\{)/.test(text) ? text : Buffer.from(text, "base64").toString("utf8").trim();
  if (plain.startsWith("{")) return parseJson(plain);
  try {
    return createPrivateKey(plain).export({ format: "jwk" });
  } catch {
    return undefined;
  }
}

export interface SigningKey {
  keyId: string;
  /** As returned by `readSigningKey`. */
  key: string;
}

/** The URL with a signature that is valid until `expires`, in seconds since 1970 UTC. */
export async function signPlaybackUrl(
  url: string,
  { provider, id = "" }: PlaybackSettings,
  signer: SigningKey,
  expires: number,
): Promise<string> {
  switch (provider) {
    case "mux":
      return withMuxToken(url, await signToken(signer, { sub: id, aud: "v", exp: expires }));
    case "cloudflare-stream":
      return withStreamToken(url, id, await signToken(signer, { sub: id, exp: expires }));
    case "hmac":
      return signQuery(url, signer, expires);
  }
}

/** Mux's images by the first word of their file's name, and what a token for one is issued for. */
const MUX_IMAGES: Record<string, string> = { thumbnail: "t", animated: "g", storyboard: "s" };

/** A thumbnail with the signature that it needs: an image that Mux makes of the signed video. Others stay as they are. */
export async function signThumbnail(
  thumbnail: string,
  { provider, id = "" }: PlaybackSettings,
  signer: SigningKey,
  expires: number,
): Promise<string> {
  if (provider !== "mux" || !URL.canParse(thumbnail)) return thumbnail;
  const url = new URL(thumbnail);
  const [, playbackId, file = ""] = url.pathname.split("/");
  const aud = MUX_IMAGES[/^[a-z]*/.exec(file)?.[0] ?? ""];
  if (url.hostname !== "image.mux.com" || playbackId !== id || aud === undefined) return thumbnail;
  // Mux takes the parameters of a signed image from its token alone.
  url.searchParams.delete("token");
  const parameters = Object.fromEntries(url.searchParams);
  url.search = "";
  return withMuxToken(url.href, await signToken(signer, { ...parameters, sub: id, aud, exp: expires }));
}

async function signToken({ keyId, key }: SigningKey, claims: JWTPayload): Promise<string> {
  return new SignJWT({ ...claims, kid: keyId })
    .setProtectedHeader({ alg: ALGORITHM, kid: keyId, typ: "JWT" })
    .sign(await importJWK(RsaJwk.parse(parseJson(key)), ALGORITHM));
}

function withMuxToken(url: string, token: string): string {
  const signed = new URL(url);
  signed.searchParams.set("token", token);
  return signed.href;
}

/** Replaces the UID with the token. */
function withStreamToken(url: string, uid: string, token: string): string {
  const signed = new URL(url);
  signed.pathname = signed.pathname
    .split("/")
    .map((segment) => (segment === uid ? token : segment))
    .join("/");
  return signed.href;
}

/** Appends `exp`, `kid` and `sig`, the HMAC of the path and query before `&sig=`. */
async function signQuery(url: string, { keyId, key }: SigningKey, expires: number): Promise<string> {
  const signed = new URL(url);
  for (const name of ["exp", "kid", "sig"]) signed.searchParams.delete(name);
  signed.searchParams.set("exp", String(expires));
  signed.searchParams.set("kid", keyId);
  const text = new TextEncoder();
  const secret = await crypto.subtle.importKey("raw", text.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", secret, text.encode(signed.pathname + signed.search));
  signed.searchParams.append("sig", toHex(new Uint8Array(signature)));
  return signed.href;
}
