import { z } from "@hono/zod-openapi";
import { jwtVerify, SignJWT } from "jose";
import { hmacKey, randomToken, secretsOf } from "../lib/crypto.ts";

const LIFETIME_MS = 60_000;
/** Text of all tags that a socket carries; the rest is left out, so that its attachment stays below 2 kB. */
const TAGS_BYTES = 1_200;

const Claims = z.object({ acc: z.string().nullable(), tags: z.array(z.string()), jti: z.string(), relay: z.number(), exp: z.number() });

/** What a ticket says of its viewer. `relay` is where it is spent, which makes one use exact. */
export interface Ticket {
  accountId: string | null;
  tags: string[];
  nonce: { value: string; expires: number };
  relay: number;
}

export interface TicketSubject {
  siteId: string;
  channelId: string;
  accountId: string | null;
  tags: string[];
}

/** Signs a ticket of 60 s for one viewer and channel; `expiresAt` in ms. */
export async function signTicket(
  env: Env,
  subject: TicketSubject,
  relay: number,
  now: number,
): Promise<{ ticket: string; expiresAt: number }> {
  const expires = Math.ceil((now + LIFETIME_MS) / 1000);
  const ticket = await new SignJWT({ acc: subject.accountId, tags: fittingTags(subject.tags), relay })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(audience(subject))
    .setJti(randomToken(12))
    .setExpirationTime(expires)
    .sign(await ticketKey(secretsOf(env)[0]));
  return { ticket, expiresAt: expires * 1000 };
}

/** Reads a ticket for this channel; null if it is forged, expired or another channel's. */
export async function readTicket(
  env: Env,
  ticket: string,
  channel: { siteId: string; channelId: string },
  now: number,
): Promise<Ticket | null> {
  for (const secret of secretsOf(env)) {
    const options = { algorithms: ["HS256"], audience: audience(channel), currentDate: new Date(now) };
    const verified = await jwtVerify(ticket, await ticketKey(secret), options).catch(() => null);
    if (!verified) continue;
    const { acc, tags, jti, relay, exp } = Claims.parse(verified.payload);
    return { accountId: acc, tags, nonce: { value: jti, expires: exp * 1000 }, relay };
  }
  return null;
}

function audience({ siteId, channelId }: { siteId: string; channelId: string }): string {
  return `realtime:${siteId}:${channelId}`;
}

function ticketKey(secret: string): Promise<CryptoKey> {
  return hmacKey(secret, "realtime ticket");
}

/** The tags of an account that its sockets carry. */
export function fittingTags(tags: string[]): string[] {
  let room = TAGS_BYTES;
  return tags.filter((tag) => (room -= new TextEncoder().encode(tag).length + 3) >= 0);
}
