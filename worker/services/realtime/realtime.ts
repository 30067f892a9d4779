import { createHash, createHmac } from "node:crypto";
import {
  channelName,
  REFUSAL_HEADER,
  relayName,
  RelayRefusal,
  type VersionedGate,
  VIEWER_HEADER,
  type ViewerIdentity,
} from "#worker/durable-objects/channel/channel.protocol.ts";
import { errorFrame } from "#worker/durable-objects/relay/frames.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { bucketOf } from "#worker/lib/crypto/hash.ts";
import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { readTicket, signTicket, type TicketSubject } from "./tickets.ts";

const KNOWN_MS = 2_000;
const KNOWN_CHANNELS = 1_000;
/** A request that waits for another one's look-up makes its own after this, because the other may have been cancelled. */
const SHARED_WAIT_MS = 1_000;
const ATTEMPTS = 6;
const NEIGHBOURS = 3;

/** What a viewer asks for on connecting. */
export interface Connection {
  siteId: string;
  channelId: string;
  deviceId: string | null;
  /** Where it comes from, as `networkOf` tells; null where nothing tells. */
  network: string | null;
  ticket: string | null;
  resume: { epoch: string; seq: number } | null;
}

/** How a channel's gate is looked up: once per channel and 2 s; null where the site has no such channel. */
export type LoadGate = () => Promise<VersionedGate | null>;

/** Why a viewer is not let in: the code of the close frame, and what the error frame says. */
export interface Refusal {
  close: number;
  code: string;
  message: string;
}

/** The object that holds a channel's truth. */
export function channelOf(env: Env, siteId: string, channelId: string) {
  return env.CHANNEL.getByName(channelName(siteId, channelId));
}

/** The object that counts a site's viewers and broadcasts to all its channels. */
export function presenceOf(env: Env, siteId: string) {
  return env.SITE_PRESENCE.getByName(siteId);
}

/** A one-use ticket of 60 s that stands for the account on a socket's URL. */
export async function issueTicket(env: Env, subject: TicketSubject, now: number): Promise<{ ticket: string; expiresAt: number }> {
  const relays = await channelOf(env, subject.siteId, subject.channelId).relays();
  return signTicket(env, subject, bucketOf(subject.accountId ?? crypto.randomUUID(), relays), now);
}

/** Answers an upgrade. A refused viewer is accepted too, told why in an error frame, and closed: browsers can't read an HTTP status. */
export async function connect(env: Env, connection: Connection, loadGate: LoadGate): Promise<Response> {
  const entered = await enter(env, connection, loadGate);
  return entered instanceof Response ? entered : closedSocket(entered);
}

/** Lets a viewer into one of the channel's relays; the answer carries the socket. */
export async function enter(env: Env, connection: Connection, loadGate: LoadGate): Promise<Response | Refusal> {
  try {
    const ticket = connection.ticket === null ? null : await readTicket(env, connection.ticket, connection, Date.now());
    if (connection.ticket !== null && !ticket) return UNAUTHENTICATED;
    const channel = channelName(connection.siteId, connection.channelId);
    const { gate, relays } = await lookUp(env, channel, loadGate);
    if (!gate) return { close: CLOSE.notFound, code: "not_found", message: "The site has no such channel" };
    if (gate.type !== "none" && !ticket?.accountId) return NO_TICKET;
    const { deviceId, network, resume } = connection;
    const viewer: ViewerIdentity = {
      accountId: ticket?.accountId ?? null,
      sessionId: ticket?.sessionId ?? null,
      device: deviceId === null ? null : hashOfDevice(connection.siteId, deviceId),
      network: network === null ? null : hashOfNetwork(env, connection.siteId, network),
      tags: ticket?.tags ?? [],
      resume,
      nonce: ticket?.nonce ?? null,
      gate,
    };
    // One network's viewers come to one relay, which counts them.
    const home = ticket?.relay ?? bucketOf(network ?? deviceId ?? crypto.randomUUID(), relays);
    return await enterRelay(env, channel, viewer, home, relays);
  } catch (error) {
    logError("connect_failed", error, { channelId: connection.channelId });
    return { close: CLOSE.unavailable, code: "unavailable", message: "The channel can't be reached; try again later" };
  }
}

const UNAUTHENTICATED: Refusal = {
  close: CLOSE.unauthenticated,
  code: "unauthenticated",
  message: "The ticket is unknown, expired, used before or another channel's",
};

const NO_TICKET: Refusal = { close: CLOSE.unauthenticated, code: "unauthenticated", message: "This channel asks for a ticket" };

/** What a relay's refusal means to the viewer; `full` sends it on. */
const REFUSALS: Record<Exclude<RelayRefusal, "full">, Refusal> = {
  spent: UNAUTHENTICATED,
  crowded: {
    close: CLOSE.tooMany,
    code: "too_many_sockets",
    message: "This device, account or network has too many connections to the channel; close one of them",
  },
  unauthenticated: { close: CLOSE.unauthenticated, code: "unauthenticated", message: "The session has ended, or the channel asks for one" },
  forbidden: { close: CLOSE.forbidden, code: "forbidden", message: "This account has no entitlement to the channel" },
};

/** Tries the home relay, then its neighbours, then asks for one relay more. */
async function enterRelay(env: Env, channel: string, viewer: ViewerIdentity, home: number, seen: number): Promise<Response | Refusal> {
  let relay = home;
  let relays = seen;
  let nonce = viewer.nonce;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const headers = { Upgrade: "websocket", [VIEWER_HEADER]: encodeURIComponent(JSON.stringify({ ...viewer, nonce })) };
    const answer = await env.RELAY.getByName(relayName(channel, relay)).fetch("https://relay/", { headers });
    if (answer.status === 101) return answer;
    const refusal = RelayRefusal.parse(answer.headers.get(REFUSAL_HEADER));
    if (refusal !== "full") return REFUSALS[refusal];
    // Full, and the ticket is spent there: elsewhere it isn't asked for again.
    nonce = null;
    if (attempt < Math.min(NEIGHBOURS, relays)) relay = (relay + 1) % relays;
    else {
      relays = await env.CHANNEL.getByName(channel).grow(relays);
      relay = relays - 1;
      known.delete(channel);
    }
  }
  return { close: CLOSE.tooMany, code: "channel_full", message: "The channel is full; try again later" };
}

/** Accepts an upgrade, sends the error and closes. */
export function closedSocket({ close, code, message }: Refusal): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.send(errorFrame(code, message, close));
  server.close(close, code);
  return new Response(null, { status: 101, webSocket: client });
}

interface Known {
  gate: VersionedGate | null;
  relays: number;
}

interface KnownEntry {
  expires: number;
  pending: Promise<Known>;
  value?: Known;
}

// A storm of reconnects asks the channel and the database once per isolate, not once per viewer.
const known = new Map<string, KnownEntry>();

async function lookUp(env: Env, channel: string, load: LoadGate): Promise<Known> {
  const read = async (): Promise<Known> => {
    const [gate, relays] = await Promise.all([load(), env.CHANNEL.getByName(channel).relays()]);
    return { gate, relays };
  };
  const now = Date.now();
  const hit = known.get(channel);
  if (hit && hit.expires > now) return hit.value ?? withTimeout(hit.pending, SHARED_WAIT_MS).catch(read);
  const entry: KnownEntry = { expires: now + KNOWN_MS, pending: read() };
  known.set(channel, entry);
  if (known.size > KNOWN_CHANNELS) forgetOldest();
  try {
    entry.value = await entry.pending;
    return entry.value;
  } catch (error) {
    known.delete(channel);
    throw error;
  }
}

function forgetOldest(): void {
  for (const channel of known.keys()) {
    known.delete(channel);
    return;
  }
}

/** What stands for a device in counts: no object keeps the device id, and one device is another on another site. */
function hashOfDevice(siteId: string, deviceId: string): string {
  return createHash("sha256").update(`${siteId}:${deviceId}`).digest("hex").slice(0, 32);
}

/** What stands for a network in counts: addresses are few enough to try them all, so the hash is keyed. */
function hashOfNetwork(env: Env, siteId: string, network: string): string {
  return createHmac("sha256", env.TIFO_SECRET).update(`network\n${siteId}\n${network}`).digest("hex").slice(0, 16);
}
