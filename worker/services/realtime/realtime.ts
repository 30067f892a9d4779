import { createHmac } from "node:crypto";
import { relayOf } from "#worker/durable-objects/stubs.ts";
import {
  channelName,
  REJECTION_HEADER,
  RelayRejection,
  type VersionedGate,
  VIEWER_HEADER,
  type ViewerIdentity,
} from "#worker/durable-objects/channel/channel.protocol.ts";
import { errorFrame } from "#worker/durable-objects/relay/frames.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { bucketOf } from "#worker/lib/crypto/hash.ts";
import { logError } from "#worker/lib/log.ts";
import { SHARED_WAIT_MS, SharedCache } from "#worker/lib/shared-cache.ts";
import { type SiteSegments, slugsFor } from "#worker/services/segments/membership.ts";
import { hashOfDevice } from "./device-hash.ts";
import { addRelays, newestRelay, relayCount } from "./relay-counts.ts";
import { readTicket, signTicket, type TicketSubject } from "./tickets.ts";

const KNOWN_MS = 2_000;
const KNOWN_CHANNELS = 1_000;
const ATTEMPTS = 6;
const NEIGHBOURS = 3;

/** A viewer's connection request. */
export interface Connection {
  siteId: string;
  channelId: string;
  deviceId: string | null;
  /** The viewer's network, from `networkOf`; null if unknown. */
  network: string | null;
  ticket: string | null;
  /** Finds the output whose token is sent as the ticket, null if it isn't valid for this channel; undefined for a viewer. */
  findOutput?: (() => Promise<string | null>) | undefined;
  /** The viewer's language tag, if known. */
  language?: string | null;
  /** The country that the viewer connects from, if known. */
  country?: string | null;
  resume: { epoch: string; seq: number } | null;
}

/** What the database says about a channel that viewers connect to. */
export interface KnownChannel {
  gate: VersionedGate;
  site: SiteSegments;
}

/** Loads a channel, at most once per channel and 2 s; null if the site has none with this id. */
export type LoadChannel = () => Promise<KnownChannel | null>;

/** Why a viewer is rejected: the close code, and the contents of the error frame. */
export interface Rejection {
  close: number;
  code: string;
  message: string;
}

/** Issues a single-use ticket, valid for 60 s, that identifies the account in a socket's URL. */
export async function issueTicket(env: Env, subject: TicketSubject, now: number): Promise<{ ticket: string; expiresAt: number }> {
  const relays = await relayCount(env, subject.siteId, subject.channelId);
  return signTicket(env, subject, bucketOf(subject.accountId ?? crypto.randomUUID(), relays), now);
}

/** Responds to an upgrade. A rejected viewer gets a socket with an error frame and a close code: browsers can't read the HTTP status. */
export async function connect(env: Env, connection: Connection, load: LoadChannel): Promise<Response> {
  const entered = await enter(env, connection, load);
  return entered instanceof Response ? entered : closedSocket(entered);
}

/** Admits a viewer to one of the channel's relays; the response has the socket. */
export async function enter(env: Env, connection: Connection, load: LoadChannel): Promise<Response | Rejection> {
  try {
    const caller = await identify(env, connection);
    if (!caller) return UNAUTHENTICATED;
    const { relay: chosen, ...identity } = caller;
    const channel = await lookUp(connection, load);
    if (!channel) return { close: CLOSE.notFound, code: "not_found", message: "The site has no such channel" };
    const { gate, site } = channel;
    const { accountId, outputId } = identity;
    if (gate.type !== "none" && accountId === null && outputId === null) return NO_TICKET;
    // Asking an object creates it, so one is asked only for channels that exist.
    const relays = await relayCount(env, connection.siteId, connection.channelId);
    const { network, language = null, country = null, resume } = connection;
    // A mixer isn't one of the devices that the site counts.
    const deviceId = outputId === null ? connection.deviceId : null;
    const viewer: ViewerIdentity = {
      ...identity,
      device: deviceId === null ? null : hashOfDevice(connection.siteId, deviceId),
      network: network === null ? null : hashOfNetwork(env, connection.siteId, network),
      language,
      country,
      segments: { version: site.version, slugs: slugsFor(site.segments, null, { language, country }) },
      resume,
      gate,
    };
    // Viewers of one network are routed to one relay, which counts them; and so are the sockets of an output.
    const home = chosen ?? bucketOf(outputId ?? network ?? deviceId ?? crypto.randomUUID(), relays);
    return await enterRelay(env, connection, viewer, home, relays);
  } catch (error) {
    logError("connect_failed", error, { channelId: connection.channelId });
    return { close: CLOSE.unavailable, code: "unavailable", message: "The channel is unavailable; try again later" };
  }
}

/** Who connects, as far as its ticket tells; `relay`: the one that must be used. */
interface Caller extends Pick<ViewerIdentity, "accountId" | "sessionId" | "outputId" | "tags" | "nonce"> {
  relay: number | null;
}

const ANONYMOUS: Caller = { accountId: null, sessionId: null, outputId: null, tags: [], nonce: null, relay: null };

/** Null if the ticket is not valid. */
async function identify(env: Env, connection: Connection): Promise<Caller | null> {
  if (connection.findOutput) {
    const outputId = await connection.findOutput();
    return outputId === null ? null : { ...ANONYMOUS, outputId };
  }
  if (connection.ticket === null) return ANONYMOUS;
  const ticket = await readTicket(env, connection.ticket, connection, Date.now());
  return ticket && { ...ANONYMOUS, ...ticket };
}

const UNAUTHENTICATED: Rejection = {
  close: CLOSE.unauthenticated,
  code: "unauthenticated",
  message: "The ticket is unknown, expired, revoked, already used, or for another channel",
};

const NO_TICKET: Rejection = { close: CLOSE.unauthenticated, code: "unauthenticated", message: "This channel requires a ticket" };

/** The error that a viewer gets for a relay's rejection; `full` makes it try the next relay. */
const REJECTIONS: Record<Exclude<RelayRejection, "full">, Rejection> = {
  ticket_used: UNAUTHENTICATED,
  over_quota: {
    close: CLOSE.tooMany,
    code: "too_many_sockets",
    message: "This device, account or network has too many connections to the channel; close one of them",
  },
  unauthenticated: { close: CLOSE.unauthenticated, code: "unauthenticated", message: "The session has ended, or the channel requires one" },
  forbidden: { close: CLOSE.forbidden, code: "forbidden", message: "This account has no entitlement to the channel" },
};

/** Tries the home relay, then its neighbours, then adds a relay. */
async function enterRelay(
  env: Env,
  { siteId, channelId }: Connection,
  viewer: ViewerIdentity,
  home: number,
  seen: number,
): Promise<Response | Rejection> {
  let relay = home;
  let relays = seen;
  let nonce = viewer.nonce;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const headers = { Upgrade: "websocket", [VIEWER_HEADER]: encodeURIComponent(JSON.stringify({ ...viewer, nonce })) };
    const response = await relayOf(env, siteId, channelId, relay).fetch("https://relay/", { headers });
    if (response.status === 101) return response;
    const reason = RelayRejection.parse(response.headers.get(REJECTION_HEADER));
    if (reason !== "full") return REJECTIONS[reason];
    // The full relay has already used up the ticket: the next one must not check it again.
    nonce = null;
    if (attempt < Math.min(NEIGHBOURS, relays)) relay = (relay + 1) % relays;
    else {
      relays = await addRelays(env, siteId, channelId, relays);
      relay = newestRelay(relays);
    }
  }
  return { close: CLOSE.tooMany, code: "channel_full", message: "The channel is full; try again later" };
}

/** Accepts an upgrade, sends the error and closes. */
export function closedSocket({ close, code, message }: Rejection): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.send(errorFrame(code, message, close));
  server.close(close, code);
  return new Response(null, { status: 101, webSocket: client });
}

// A storm of reconnects asks the database once per isolate, not once per viewer.
const known = new SharedCache<KnownChannel | null>({ max: KNOWN_CHANNELS, waitMs: SHARED_WAIT_MS, failedMs: 0 });

function lookUp({ siteId, channelId }: Connection, load: LoadChannel): Promise<KnownChannel | null> {
  return known.get(channelName(siteId, channelId), async () => ({ value: await load(), freshMs: KNOWN_MS }));
}

/** The network's hash for counting. It is keyed, because there are few enough addresses to try them all. */
function hashOfNetwork(env: Env, siteId: string, network: string): string {
  return createHmac("sha256", env.TIFO_SECRET).update(`network\n${siteId}\n${network}`).digest("hex").slice(0, 16);
}
