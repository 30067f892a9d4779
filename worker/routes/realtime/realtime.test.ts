import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Caller, newSite, openSocket, ORIGIN, type TestSite } from "#test/harness.ts";
import { TestViewer } from "#test/isolated/relay-viewer.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { Identity } from "#worker/services/auth/identity.ts";
import { signTicket } from "#worker/services/realtime/tickets.ts";
import { BroadcastAnswer, Overlay } from "#worker/services/overlays/schemas.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";

let site: TestSite;
let channel: string;
let other: string;
let overlayId: string;

beforeAll(async () => {
  site = await newSite();
  [channel, other] = site.channels;
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 60, contents };
  overlayId = (await site.call("createOverlay", { body })).as(Overlay)._id;
});

async function newTicket(channelId: string, as: Caller = "viewer"): Promise<string> {
  return (await site.call("createTicket", { as, body: { channelId } })).as(Ticket).ticket;
}

async function broadcast(channelId: string): Promise<string> {
  const response = await site.call("broadcastOverlay", { params: { id: overlayId }, body: { channelId } });
  return response.as(BroadcastAnswer).broadcasts[0]?.broadcastId ?? "";
}

/** How a viewer was rejected: the error frame's code, and the close code. */
async function rejection(viewer: TestViewer): Promise<{ code: string; close: number }> {
  const [{ code }, closed] = await Promise.all([viewer.first("error"), viewer.closed]);
  return { code, close: closed.code };
}

describe("a ticket", () => {
  test("admits its account once, within a minute", async () => {
    const before = Date.now();
    const response = await site.call("createTicket", { as: "viewer", body: { channelId: channel } });
    const { ticket, expiresAt } = response.as(Ticket);
    expect(expiresAt - before).toBeGreaterThan(55_000);
    expect(expiresAt - before).toBeLessThanOrEqual(62_000);
    expect(response.headers.get("RateLimit")).toMatch(/^"ticket";r=\d+;t=\d+$/);
    await (await openSocket(site, channel, { ticket })).first("welcome");
    expect(await rejection(await openSocket(site, channel, { ticket }))).toEqual({ code: "unauthenticated", close: CLOSE.unauthenticated });
  });

  test("admits only one of two viewers that use it concurrently", async () => {
    const ticket = await newTicket(channel);
    const viewers = await Promise.all([openSocket(site, channel, { ticket }), openSocket(site, channel, { ticket })]);
    const first = await Promise.all(viewers.map((viewer) => viewer.when((frame) => ["welcome", "error"].includes(frame.type))));
    expect(first.map((frame) => frame.type).sort()).toEqual(["error", "welcome"]);
  });

  test.for<[name: string, ticket: () => Promise<string>]>([
    ["for another channel", () => newTicket(other)],
    ["that is forged", async () => `${(await newTicket(channel)).slice(0, -6)}AAAAAA`],
    ["that is nonsense", async () => "ticket"],
    [
      "that has expired",
      async () =>
        (
          await signTicket(
            env,
            { siteId: site.id, channelId: channel, accountId: null, sessionId: null, tags: [] },
            0,
            Date.now() - 120_000,
          )
        ).ticket,
    ],
    [
      "for another site's channel with the same id",
      async () =>
        (await signTicket(env, { siteId: newId(1), channelId: channel, accountId: null, sessionId: null, tags: [] }, 0, Date.now())).ticket,
    ],
  ])("%s is rejected", async ([, ticket]) => {
    const viewer = await openSocket(site, channel, { ticket: await ticket() });
    expect(await rejection(viewer)).toEqual({ code: "unauthenticated", close: CLOSE.unauthenticated });
  });

  test("is issued only for the site's own channels", async () => {
    const foreign = await newSite();
    for (const channelId of [newId(1), foreign.channels[0]]) {
      const response = await site.call("createTicket", { as: "viewer", body: { channelId } });
      expect(response.problem).toMatchObject({ status: 404, message: "Channel not found" });
    }
  });
});

describe("a channel's gate", () => {
  test("for signed-in viewers admits viewers with a ticket", async () => {
    const gated = await site.addChannel("members", { gate: { type: "login", skus: [] } });
    expect(await rejection(await openSocket(site, gated))).toEqual({ code: "unauthenticated", close: CLOSE.unauthenticated });
    await (await openSocket(site, gated, { ticket: await newTicket(gated) })).first("welcome");
  });

  test("for an entitlement rejects an account without one", async () => {
    const gated = await site.addChannel("paid", { gate: { type: "entitlement", skus: ["season"] } });
    expect(await rejection(await openSocket(site, gated))).toEqual({ code: "unauthenticated", close: CLOSE.unauthenticated });
    expect(await rejection(await openSocket(site, gated, { ticket: await newTicket(gated) }))).toEqual({
      code: "forbidden",
      close: CLOSE.forbidden,
    });
  });
});

describe("a socket", () => {
  test("on an unknown channel is closed with the reason", async () => {
    const foreign = await newSite();
    const relays = vi.spyOn(Channel.prototype, "relays");
    for (const channelId of [newId(1), foreign.channels[0]]) {
      expect(await rejection(await openSocket(site, channelId))).toEqual({ code: "not_found", close: CLOSE.notFound });
    }
    // Asking an object by a made-up name would create it.
    expect(relays).not.toHaveBeenCalled();
    relays.mockRestore();
  });

  test("needs an upgrade", async () => {
    const response = await site.call("connectToChannel", { params: { channelId: channel } });
    expect(response.problem).toMatchObject({ status: 426, code: "upgrade_required" });
    expect(response.headers.get("Upgrade")).toBe("websocket");
  });

  test("belongs to the site in its URL, whatever its headers say", async () => {
    const foreign = await newSite();
    const viewer = await openSocket(foreign, channel);
    expect((await rejection(viewer)).close).toBe(CLOSE.notFound);
  });

  test.for<[name: string, path: string, query: Record<string, string | undefined>, code: string, close: number]>([
    ["without a client id", "", { clientId: undefined }, "invalid_request", 4400],
    ["for an unknown site", "", { clientId: newId(1) }, "unauthenticated", 4401],
    ["with a malformed site id", "", { clientId: "demo" }, "unauthenticated", 4401],
    ["with a seq that isn't a number", "", { epoch: "a", seq: "one" }, "invalid_request", 4400],
    ["with a negative seq", "", { epoch: "a", seq: "-1" }, "invalid_request", 4400],
    ["with a seq in hexadecimal", "", { epoch: "a", seq: "0x5" }, "invalid_request", 4400],
    ["with an empty seq", "", { epoch: "a", seq: "" }, "invalid_request", 4400],
    ["with a seq but no epoch", "", { seq: "1" }, "invalid_request", 4400],
    ["with an epoch but no seq", "", { epoch: "a" }, "invalid_request", 4400],
    ["with a long device id", "", { deviceId: "d".repeat(201) }, "invalid_request", 4400],
    ["with a long ticket", "", { ticket: "t".repeat(2001) }, "invalid_request", 4400],
    ["with an unknown parameter", "", { token: "secret" }, "invalid_request", 4400],
    ["with a malformed channel id", "/realtime/v1/channels/main-stage", {}, "invalid_request", 4400],
    ["for an unknown channel", `/realtime/v1/channels/${newId(1)}`, {}, "not_found", 4404],
    ["at a path that doesn't exist", "/realtime/v1/channel", {}, "not_found", 4404],
    ["at the path of tickets", "/realtime/v1/tickets", {}, "method_not_allowed", 4404],
    ["at the path of Server-Sent Events", "events", {}, "invalid_request", 4400],
  ])("%s is accepted, receives the error and is closed with its code", async ([, path, query, code, close]) => {
    const own = `/realtime/v1/channels/${channel}`;
    const url = new URL(path === "" ? own : path === "events" ? `${own}/events` : path, ORIGIN);
    for (const [name, value] of Object.entries({ clientId: site.id, ...query })) if (value !== undefined) url.searchParams.set(name, value);
    const { webSocket, status } = await exports.default.fetch(url, { headers: { Upgrade: "WebSocket" } });
    expect(status).toBe(101);
    if (!webSocket) throw new Error("No socket");
    const viewer = new TestViewer(webSocket);
    expect(await viewer.first("error")).toMatchObject({ code, close });
    expect((await viewer.closed).code).toBe(close);
  });

  test("that fails because of a server error is closed with a retryable code", async () => {
    const failing = vi.spyOn(Identity.prototype, "confirm").mockRejectedValueOnce(new Error("the database is away"));
    const viewer = await openSocket(site, channel);
    failing.mockRestore();
    expect(await rejection(viewer)).toEqual({ code: "internal", close: 1011 });
  });

  test("that resumes receives each missed frame once, or the full state for a position of another log", async () => {
    const own = await site.addChannel("resumes");
    const first = await openSocket(site, own);
    const { epoch } = await first.first("welcome");
    await broadcast(own);
    await first.waitForSeq(1);
    first.close();
    const missed = [await broadcast(own), await broadcast(own)];
    const again = await openSocket(site, own, { epoch, seq: 1 });
    await again.waitForSeq(3);
    expect(again.frames.flatMap((frame) => (frame.type === "overlay.show" ? [frame.broadcastId] : []))).toEqual(missed);
    expect(await again.first("welcome")).toMatchObject({ recovered: true, upTo: 1 });
    const stranger = await openSocket(site, own, { epoch: "0".repeat(24), seq: 1 });
    const welcome = await stranger.first("welcome");
    expect(welcome.recovered).toBe(false);
    expect(welcome.overlays).toHaveLength(3);
  });
});

interface SentEvent {
  id?: string;
  event?: string;
  data?: string;
}

/** Opens a stream and reads its events one by one. */
async function openStream(
  channelId: string,
  { query = {}, headers = {} }: { query?: Record<string, string>; headers?: Record<string, string> } = {},
) {
  const url = new URL(`/realtime/v1/channels/${channelId}/events`, ORIGIN);
  url.search = new URLSearchParams(query).toString();
  const response = await exports.default.fetch(url, { headers: { "Tifo-Client-Id": site.id, ...headers } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader?.cancel());
  let text = "";
  let all = "";
  async function next(): Promise<SentEvent | undefined> {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const event: SentEvent = Object.fromEntries(
          lines.map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
        );
        if (event.data !== undefined) return event;
        continue;
      }
      const chunk = await reader?.read();
      if (!chunk || chunk.done) return undefined;
      text += chunk.value;
      all += chunk.value;
    }
  }
  /** The next event whose data contains this text. */
  async function nextWith(part: string): Promise<SentEvent> {
    for (;;) {
      const event = await next();
      if (!event) throw new Error(`The stream ended without ${part}`);
      if (event.data?.includes(part)) return event;
    }
  }
  return { response, next, nextWith, read: () => all };
}

describe("the event stream", () => {
  test("sends the socket's frames, each with the position to resume from", async () => {
    await site.call("streamChannel", { params: { channelId: channel } });
    const own = await site.addChannel("streams");
    const stream = await openStream(own);
    expect(stream.response.headers.get("Content-Type")).toBe("text/event-stream");
    expect((await stream.nextWith("welcome")).id).toMatch(/^[0-9a-f]+:0$/);
    const broadcastId = await broadcast(own);
    const shown = await stream.nextWith("overlay.show");
    expect(shown.data).toContain(broadcastId);
    expect(shown.id).toMatch(/^[0-9a-f]+:1$/);
    const missed = await broadcast(own);
    const again = await openStream(own, { headers: { "Last-Event-ID": shown.id ?? "" } });
    await again.nextWith(missed);
    expect(again.read()).toContain('"recovered":true');
    expect(again.read()).not.toContain(broadcastId);
  });

  test("accepts the client id in the query, as browsers must send it", async () => {
    const stream = await openStream(channel, { query: { clientId: site.id }, headers: {} });
    expect((await stream.next())?.data).toContain("welcome");
  });

  test.for(["epoch=a", "seq=1", "epoch=a&seq=1e2"])("rejects an incomplete or malformed position: %s", async (query) => {
    const call = { params: { channelId: channel }, query: Object.fromEntries(new URLSearchParams(query)) };
    expect((await site.call("streamChannel", call)).problem).toMatchObject({ status: 400, code: "invalid_request" });
  });

  test("sends the reason for a rejection, and ends", async () => {
    const stream = await openStream(newId(1));
    const rejected = await stream.next();
    expect(rejected?.event).toBe("error");
    expect(rejected?.data).toContain("not_found");
    expect(await stream.next()).toBeUndefined();
  });
});
