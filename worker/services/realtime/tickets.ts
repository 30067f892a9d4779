import { z } from "@hono/zod-openapi";
import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { fromBase64Url, randomToken, toBase64Url } from "#worker/lib/crypto/crypto.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";

const LIFETIME_MS = 60_000;
/** Size limit of the tags on a socket; further tags are left out, so that its attachment stays below 2 kB. */
const TAGS_BYTES = 1_200;

const PURPOSE = "realtime ticket";

/** The contents of a ticket: its owner and channel, the `nonce` for single use, and when it `expires` (ms). */
const Content = z.object({
  channel: z.string(),
  accountId: z.string().nullable(),
  sessionId: z.string().nullable(),
  tags: z.array(z.string()),
  nonce: z.string(),
  relay: z.number(),
  expires: z.number(),
});

/** A ticket's claims about its viewer. It must be used at `relay`, which guarantees single use. */
export interface Ticket {
  accountId: string | null;
  sessionId: string | null;
  tags: string[];
  nonce: { value: string; expires: number };
  relay: number;
}

export interface TicketSubject {
  siteId: string;
  channelId: string;
  accountId: string | null;
  /** The session that requested it; the ticket is invalid once that has ended. */
  sessionId: string | null;
  tags: string[];
}

/** Signs a ticket for one viewer and channel, valid for 60 s; `expiresAt` in ms. */
export async function signTicket(
  env: { TIFO_SECRET: string },
  subject: TicketSubject,
  relay: number,
  now: number,
): Promise<{ ticket: string; expiresAt: number }> {
  const content = {
    channel: channelName(subject.siteId, subject.channelId),
    accountId: subject.accountId,
    sessionId: subject.sessionId,
    tags: fittingTags(subject.tags),
    nonce: randomToken(12),
    relay,
    expires: now + LIFETIME_MS,
  } satisfies z.infer<typeof Content>;
  const ticket = await signContent(env, PURPOSE, toBase64Url(new TextEncoder().encode(JSON.stringify(content))));
  return { ticket, expiresAt: content.expires };
}

/** Reads a ticket for this channel; null if it is forged, expired or for another channel. */
export async function readTicket(
  env: Env,
  ticket: string,
  channel: { siteId: string; channelId: string },
  now: number,
): Promise<Ticket | null> {
  const signed = await readSigned(env, PURPOSE, ticket);
  if (signed === undefined) return null;
  // A ticket from an earlier release may lack fields.
  const { data } = Content.safeParse(JSON.parse(new TextDecoder().decode(fromBase64Url(signed))));
  if (!data || data.channel !== channelName(channel.siteId, channel.channelId) || data.expires <= now) return null;
  const { accountId, sessionId, tags, nonce, relay, expires } = data;
  return { accountId, sessionId, tags, nonce: { value: nonce, expires }, relay };
}

/** The tags of an account that fit on its sockets. */
export function fittingTags(tags: string[]): string[] {
  let room = TAGS_BYTES;
  return tags.filter((tag) => (room -= storedBytes(tag) + 3) >= 0);
}

/** A socket's attachment stores a text with one byte per character, or two if any of them is beyond Latin-1. */
function storedBytes(text: string): number {
  return [...text].some((character) => character > "\u00ff") ? text.length * 2 : text.length;
}
