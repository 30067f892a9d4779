import { channelOf, presenceOf, relayOf } from "#worker/durable-objects/stubs.ts";
import { type Broadcast, VIEWER_HEADER, type ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import { connect, issueTicket, type LoadChannel } from "#worker/services/realtime/realtime.ts";

export { Branch } from "#worker/durable-objects/branch/branch.ts";
export { Channel } from "#worker/durable-objects/channel/channel.ts";
export { Relay } from "#worker/durable-objects/relay/relay.ts";
export { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";

// Tifo's Durable Objects and the services that call them, without the API and without a database.

const siteId = "5eed00000000000000000001";
const OPEN_TO_ALL: LoadChannel = async () => ({
  gate: { version: 1, type: "none", digest: "" },
  site: { version: 0, segments: [] },
});

/** A viewer whom the Worker has admitted. */
const ANYBODY: ViewerIdentity = {
  accountId: null,
  sessionId: null,
  outputId: null,
  device: null,
  network: null,
  tags: [],
  language: null,
  country: null,
  segments: { version: 0, slugs: [] },
  resume: null,
  nonce: null,
  gate: null,
};

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const channelId = searchParams.get("room") ?? "";
    switch (pathname) {
      case "/connect": {
        const [deviceId, ticket] = [searchParams.get("device"), searchParams.get("ticket")];
        return connect(env, { siteId, channelId, deviceId, network: null, ticket, language: null, resume: null }, OPEN_TO_ALL);
      }
      case "/join": {
        const viewer: ViewerIdentity = { ...ANYBODY, device: searchParams.get("device") };
        const headers = { Upgrade: "websocket", [VIEWER_HEADER]: encodeURIComponent(JSON.stringify(viewer)) };
        return relayOf(env, siteId, channelId, Number(searchParams.get("relay"))).fetch("https://relay/", { headers });
      }
      case "/publish": {
        const channel = channelOf(env, siteId, channelId);
        const broadcasts = await request.json<Broadcast[]>();
        await Promise.all(broadcasts.map((broadcast) => channel.publish(broadcast)));
        return new Response("sent");
      }
      case "/relays": {
        const channel = channelOf(env, siteId, channelId);
        const wanted = Number(searchParams.get("n"));
        for (let relays = 1; relays < wanted;) relays = await channel.grow(relays);
        return new Response("grown");
      }
      case "/tickets": {
        // Without an account, because the activity of accounts is written to the database.
        const subject = { siteId, channelId, accountId: null, sessionId: null, tags: ["team:home", "tier:gold"] };
        const tickets = Array.from({ length: Number(searchParams.get("n")) }, () => issueTicket(env, subject, Date.now()));
        return Response.json((await Promise.all(tickets)).map(({ ticket }) => ticket));
      }
      case "/counts":
        return Response.json(await presenceOf(env, siteId).concurrents());
      default:
        return new Response("nothing here", { status: 404 });
    }
  },
} satisfies ExportedHandler<Env>;
