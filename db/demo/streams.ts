import { sealAuthorization } from "#worker/services/stream-providers/stream-providers.ts";
import { sealStreamKey } from "#worker/services/streams/streams.ts";
import { seal } from "#worker/lib/crypto/crypto.ts";
import { PLAYBACK_KEY_PURPOSE } from "#worker/services/sites/playback-keys.ts";
import type { playbackKeys } from "#db/schema/streams/playback-keys.ts";
import type { streamProviders, streams } from "#db/schema/streams/streams.ts";
import { CHANNEL_1, CHANNEL_2, CHANNEL_B, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";

type StreamInsert = typeof streams.$inferInsert;
interface Secrets {
  TIFO_SECRET: string;
}

/** Providers with fictional hosts: their streams can be viewed in the API, but not started. */
export async function demoStreamProviders(secrets: Secrets): Promise<(typeof streamProviders.$inferInsert)[]> {
  return [
    { ...(await provider(secrets, "5eed0000-0000-4000-8000-000000000001", "wowza")), id: "5eed00000000000000005001", siteId: SITE_A },
    { ...(await provider(secrets, "5eed0000-0000-4000-8000-000000000002", "mux")), id: "5eed00000000000000005002", siteId: SITE_A },
    { ...(await provider(secrets, "5eed0000-0000-4000-8000-000000000101", "wowza")), id: "5eed00000000000000005101", siteId: SITE_B },
  ];
}

/** The key of a fictional CDN. */
export async function demoPlaybackKeys(secrets: Secrets): Promise<(typeof playbackKeys.$inferInsert)[]> {
  const keySealed = await seal(secrets, PLAYBACK_KEY_PURPOSE, "demo-playback-secret-of-harbour-city");
  const key = { provider: "hmac" as const, keyId: "harbour-cdn", lifetimeSeconds: 3600, keySealed };
  return [{ ...stamps, ...key, id: "5eed00000000000000005c01", siteId: SITE_A }];
}

async function provider(secrets: Secrets, authorization: string, name: string) {
  const host = `https://${name}.demo.example`;
  return {
    ...stamps,
    ...(await sealAuthorization(secrets, authorization)),
    name,
    canGenerateCaptions: name === "mux",
    canSupport4K: true,
    createStream: `${host}/create`,
    deleteStream: `${host}/delete`,
    startStream: `${host}/start`,
    stopStream: `${host}/stop`,
  };
}

export async function demoStreams(secrets: Secrets): Promise<StreamInsert[]> {
  return [
    {
      ...(await stream(secrets, "derby", "wowza", "Harbour City v Old Dock")),
      id: "5eed00000000000000005a01",
      siteId: SITE_A,
      channelId: CHANNEL_1,
      tags: ["derby", "first-team"],
      isLive: true,
      liveSince: KICK_OFF,
    },
    {
      ...(await stream(secrets, "tunnel", "mux", "Tunnel camera")),
      id: "5eed00000000000000005a02",
      siteId: SITE_A,
      channelId: CHANNEL_2,
      tags: ["behind-the-scenes"],
      isLive: false,
    },
    {
      ...(await stream(secrets, "away-end", "wowza", "From the away end")),
      id: "5eed00000000000000005a11",
      siteId: SITE_B,
      channelId: CHANNEL_B,
      tags: [],
      isLive: false,
    },
  ];
}

async function stream(secrets: Secrets, key: string, providerName: string, title: string) {
  return {
    ...stamps,
    title,
    provider: providerName,
    providerStreamId: `${providerName}-${key}`,
    ingestUrl: `rtmps://ingest.${providerName}.demo.example/live`,
    playbackUrl: `https://play.${providerName}.demo.example/${key}/master.m3u8`,
    streamKeySealed: await sealStreamKey(secrets, `demo-key-${key}`),
  };
}
