import { env, exports } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { publishAddresses, queryCount } from "#test/dns-resolver.ts";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { loadsOf, PLAYLIST_HOST, servePlaylist } from "#test/playlists.ts";
import { watchFetch } from "#test/watch-fetch.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { channelOf, limiterOf } from "#worker/durable-objects/stubs.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { LIMITS, type Slot } from "#worker/lib/limits.ts";
import { dateRangesOf } from "#worker/lib/hls/date-ranges.ts";
import { tagsOf } from "#worker/services/manifests/manifests.ts";
import { BroadcastAnswer, Overlay } from "#worker/services/overlays/schemas.ts";

let site: TestSite;
let overlayId: string;

beforeAll(async () => {
  site = await newSite();
  overlayId = await newOverlay("<p>{{team}} scores</p>");
});

async function newOverlay(html: string): Promise<string> {
  const contents = [{ kind: "html", html, position: "center" }];
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 20, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

async function broadcast(channelId: string, fields: object = {}, id = overlayId): Promise<string> {
  const body = { channelId, variables: { team: 'Old "Dock"\n' }, ...fields };
  return (await site.call("broadcastOverlay", { params: { id }, body })).as(BroadcastAnswer).broadcastId;
}

const url = (name = randomHex(6)) => `https://${PLAYLIST_HOST}/${name}.m3u8`;

/** A live playlist that ends now and reaches back `seconds`. */
function live(seconds = 60, tags: string[] = []): string {
  const from = new Date(Date.now() - seconds * 1000).toISOString();
  const segments = Array.from({ length: seconds / 6 }, (_, n) => `#EXTINF:6.000,\n${n}.ts`);
  return ["#EXTM3U", "#EXT-X-VERSION:8", "#EXT-X-TARGETDURATION:6", ...tags, `#EXT-X-PROGRAM-DATE-TIME:${from}`, ...segments, ""].join(
    "\n",
  );
}

const open = (channelId: string, src: string, options: object = {}) =>
  site.call("openManifest", { params: { channelId }, query: { src }, ...options });

async function rangesOf(channelId: string, src: string) {
  return dateRangesOf((await open(channelId, src)).text.split("\n"), 1_000);
}

/** Playlists are shared for a second: each reading has an address of its own. */
const fresh = (body = live()) => servePlaylist(url(), body);

describe("a live playlist", () => {
  test("has the channel's broadcasts as date ranges, with what a device needs to show them", async () => {
    const channelId = await site.addChannel("ranges");
    const broadcastId = await broadcast(channelId);
    const response = await open(channelId, fresh());
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("application/vnd.apple.mpegurl");
    const [range] = dateRangesOf(response.text.split("\n"), 10);
    expect(range).toMatchObject({ id: `tifo-${broadcastId}`, class: "tifo.overlay", duration: null, plannedDuration: 20 });
    expect(Math.abs((range?.startDate ?? 0) - Date.now())).toBeLessThan(60_000);
    const shown: unknown = JSON.parse(Buffer.from(range?.attributes["X-TIFO-BROADCAST"] ?? "", "base64url").toString());
    expect(shown).toMatchObject({ broadcastId, overlayId, contents: [{ html: "<p>Old &quot;Dock&quot;\n scores</p>" }] });
  });

  test("has what ended or was cleared within its time, with the actual duration", async () => {
    const channelId = await site.addChannel("cleared");
    const broadcastId = await broadcast(channelId);
    await site.call("clearChannelBroadcasts", { params: { targetId: channelId } });
    const [range] = await rangesOf(channelId, fresh());
    expect(range).toMatchObject({ id: `tifo-${broadcastId}`, plannedDuration: 20 });
    expect(range?.duration).toBeLessThan(20);
  });

  test("has no broadcast to a tag or a segment, and none of another channel", async () => {
    const channelId = await site.addChannel("audience");
    await site.call("broadcastOverlayToTag", { params: { id: overlayId, tagId: "team:home" }, body: { channelId } });
    await broadcast(site.channels[1]);
    expect(await rangesOf(channelId, fresh())).toEqual([]);
  });

  test("has site-wide broadcasts, on a channel without viewers too", async () => {
    const channelId = await site.addChannel("site-wide");
    const id = (await site.call("broadcastOverlay", { params: { id: overlayId }, body: { variables: { team: "All" } } })).as(
      BroadcastAnswer,
    ).broadcastId;
    expect((await rangesOf(channelId, fresh())).map((range) => range.id)).toContain(`tifo-${id}`);
  });

  test("places a broadcast with a timecode since 1970 at that time", async () => {
    const channelId = await site.addChannel("timecode");
    const timecode = Math.floor(Date.now() / 1000) - 20;
    await broadcast(channelId, { timecode });
    expect((await rangesOf(channelId, fresh()))[0]?.startDate).toBe(timecode * 1000);
  });

  test("leaves out a broadcast beyond any date, which earlier versions accepted", async () => {
    const channelId = await site.addChannel("beyond");
    const broadcastId = await broadcast(channelId);
    const entries = await channelOf(env, site.id, channelId).timeline(0);
    const entry = entries.find(({ body }) => body.includes(broadcastId));
    const shown = z.looseObject({ broadcastId: z.string() }).parse(JSON.parse(entry?.body ?? ""));
    for (const timecode of [1e308, Date.now()]) {
      const beyond = { body: JSON.stringify({ ...shown, broadcastId: "beyond", timecode }), clearedAt: null };
      const tags = tagsOf(entry ? [beyond, entry] : [], { from: 0, to: Infinity }, Date.now());
      expect(dateRangesOf(tags, 10).map(({ id }) => id)).toEqual([`tifo-${broadcastId}`]);
    }
  });

  test("that gives its segments absurd durations has the broadcasts all the same", async () => {
    const channelId = await site.addChannel("absurd");
    const broadcastId = await broadcast(channelId);
    const ranges = await rangesOf(channelId, fresh(live(60, ["#EXTINF:1e308,", "first.ts"])));
    expect(ranges.map(({ id }) => id)).toContain(`tifo-${broadcastId}`);
  });

  test("has a broadcast with too much content without it", async () => {
    const channelId = await site.addChannel("long");
    const id = await newOverlay(`<p>${"a".repeat(30_000)}</p>`);
    await broadcast(channelId, { variables: {} }, id);
    const ranges = await rangesOf(channelId, fresh());
    expect(ranges.map(({ attributes }) => attributes)).toContainEqual({ "X-TIFO-OVERLAY-ID": id });
  });

  test("without dates stays as it is, with a comment that says why", async () => {
    const { text } = await open(site.channels[0], fresh("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n"));
    expect(text).not.toContain("DATERANGE");
    expect(text).toContain("# Without EXT-X-PROGRAM-DATE-TIME");
  });
});

describe("a multivariant playlist", () => {
  test("leads back here for the playlists at allowed hosts, and elsewhere for others", async () => {
    const [channelId] = site.channels;
    const media = fresh();
    const name = media.slice(media.lastIndexOf("/") + 1);
    const body = ["#EXTM3U", "#EXT-X-STREAM-INF:BANDWIDTH=1", name, "#EXT-X-STREAM-INF:BANDWIDTH=2", "https://cdn.example/high.m3u8", ""];
    const { text } = await open(channelId, fresh(body.join("\n")));
    const [, , first = "", , second] = text.split("\n");
    expect(second).toBe("https://cdn.example/high.m3u8");
    expect(new URL(first).origin + new URL(first).pathname).toBe(`${ORIGIN}/realtime/v1/channels/${channelId}/manifest`);
    const followed = await exports.default.fetch(first);
    expect(followed.status).toBe(200);
    expect(await followed.text()).toContain(`https://${PLAYLIST_HOST}/0.ts`);
  });
});

describe("a thousand devices", () => {
  test("that ask within a second cost one load of the playlist, one call of the channel and no query each", async () => {
    const channelId = await site.addChannel("crowd");
    const src = fresh();
    const timeline = vi.spyOn(Channel.prototype, "timeline");
    const query = new URLSearchParams({ clientId: site.id, src }).toString();
    const started = Date.now();
    const responses = await Promise.all(
      Array.from({ length: 1_000 }, () => exports.default.fetch(`${ORIGIN}/realtime/v1/channels/${channelId}/manifest?${query}`)),
    );
    const spells = Math.ceil((Date.now() - started) / 1_000);
    for (const response of responses) {
      expect(response.status).toBe(200);
      await response.body?.cancel();
    }
    expect(loadsOf(src)).toBeLessThanOrEqual(spells);
    expect(timeline.mock.calls.length).toBeLessThanOrEqual(spells);
    timeline.mockRestore();
  });

  /** The status of each, of requests that share a load if they can. */
  async function statusesOf(channelId: string, first: object): Promise<number[]> {
    const src = fresh();
    const responses = await Promise.all([open(channelId, src, first), ...Array.from({ length: 5 }, () => open(channelId, src))]);
    return responses.map(({ status }) => status);
  }

  test("aren't failed by one whose session has ended", async () => {
    const headers = { Authorization: `Bearer ${await site.signIn(await site.addAccount("left", []))}` };
    await site.call("logout", { as: "client", headers });
    for (let round = 0; round < 5; round++) {
      const channelId = await site.addChannel(`ended-session-${round}`);
      expect(await statusesOf(channelId, { as: "client", headers })).toEqual([401, 200, 200, 200, 200, 200]);
    }
  });

  test("aren't failed by one whose address has loaded too many playlists", async () => {
    const channelId = await site.addChannel("greedy");
    const address = "192.0.2.77";
    const headers = { "CF-Connecting-IP": address };
    const slot: Slot = { name: "manifest", key: address };
    await limiterOf(env, site.id, slot).takeAll(Array.from({ length: LIMITS.manifest.quota }, () => slot));
    for (let round = 0; round < 5; round++) {
      // The first one shares the load of another if that is quicker.
      const [, ...others] = await statusesOf(channelId, { headers });
      expect(others).toEqual([200, 200, 200, 200, 200]);
    }
    expect((await open(channelId, fresh(), { headers })).status).toBe(429);
  });
});

describe("the playlist's URL", () => {
  test.for([
    ["at a host that the site doesn't allow", "https://elsewhere.example/main.m3u8"],
    ["at a subdomain of an allowed host", `https://cdn.${PLAYLIST_HOST}/main.m3u8`],
    ["at another port", `https://${PLAYLIST_HOST}:8443/main.m3u8`],
    ["over http", `http://${PLAYLIST_HOST}/main.m3u8`],
    ["with credentials", `https://user:secret@${PLAYLIST_HOST}/main.m3u8`],
    ["of an address", "https://127.0.0.1/main.m3u8"],
    ["of a file", "file:///etc/passwd"],
    ["that isn't one", "main.m3u8"],
  ] as const)("%s is rejected without a call", async ([, src]) => {
    const fetched = watchFetch();
    const lookUps = () => queryCount(URL.canParse(src) ? new URL(src).hostname : "");
    const before = lookUps();
    const { status, fields } = await open(site.channels[0], src);
    expect({ status, fields }).toEqual({ status: 400, fields: ["src"] });
    fetched.restore();
    expect([fetched.urls, lookUps() - before]).toEqual([[], 0]);
  });

  test("of an allowed host that resolves to a private address isn't called", async () => {
    const own = await newSite();
    const host = `inside-${randomHex(6)}.example`;
    publishAddresses(host, ["10.0.0.8"]);
    const security = { allowedOrigins: [] };
    await own.call("updateSite", { body: { name: "Inside", settings: { security, manifest: { hosts: [host] } } } });
    const src = servePlaylist(`https://${host}/main.m3u8`, live());
    const response = await own.call("openManifest", { params: { channelId: own.channels[0] }, query: { src } });
    expect([response.problem?.code, response.log.level]).toEqual(["unavailable", "info"]);
    expect(loadsOf(src)).toBe(0);
  });

  test.for<
    [
      name: string,
      response: { body?: string; status?: number; type?: string; headers?: Record<string, string> },
      status: number,
      message: string,
    ]
  >([
    ["redirects", { status: 302, headers: { Location: "https://elsewhere.example/" } }, 503, "redirects"],
    ["has no playlist", { status: 404 }, 404, "404"],
    ["fails", { status: 500 }, 503, "500"],
    ["returns html", { body: "<html>", type: "text/html" }, 503, "content type text/html"],
    ["returns text that isn't a playlist", { body: "secret", type: "text/plain" }, 503, "isn't an HLS playlist"],
    ["returns too many lines", { body: `#EXTM3U\n${"\n".repeat(60_000)}` }, 503, "lines"],
    ["returns too many bytes", { body: `#EXTM3U\n${"a".repeat(5_000_000)}` }, 503, "returned more than 4096 KiB"],
    [
      "returns short addresses that become too long",
      { body: `#EXTM3U\n#EXT-X-PART:${'URI="a",'.repeat(900)}\n`.repeat(350) },
      503,
      "more than 8 MB",
    ],
    ["uses variables", { body: '#EXTM3U\n#EXT-X-DEFINE:NAME="a",VALUE="b"' }, 503, "EXT-X-DEFINE"],
  ])("whose host %s is an error that says so, and none of the deployment", async ([, { body = live(), ...served }, status, message]) => {
    const { problem, log } = await open(site.channels[0], servePlaylist(url(), body, served));
    expect([problem?.status, log.level]).toEqual([status, "info"]);
    expect(problem?.message).toContain(message);
  });
});

describe("the channel", () => {
  test("of another site is a 404, and so is its playlist", async () => {
    const foreign = await newSite();
    expect((await open(foreign.channels[0], fresh())).problem).toMatchObject({ status: 404, message: "Channel not found" });
  });

  test("with a gate is only for those who pass it, and their playlist isn't cached for others", async () => {
    const gated = await site.addChannel("gated", { gate: { type: "login", skus: [] } });
    const src = fresh();
    expect((await open(gated, src, { as: "client" })).problem?.code).toBe("unauthenticated");
    const allowed = await open(gated, src, { as: "viewer" });
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get("Cache-Control")).toBe("private, no-store");
    expect((await open(gated, src, { as: "client" })).problem?.code).toBe("unauthenticated");
    expect((await open(site.channels[0], fresh(), { as: "client" })).headers.get("Cache-Control")).toBe("public, max-age=1");
  });

  test("with a gate for an entitlement rejects an account without one", async () => {
    const gated = await site.addChannel("paid", { gate: { type: "entitlement", skus: ["season"] } });
    expect((await open(gated, fresh(), { as: "viewer" })).problem?.code).toBe("forbidden");
  });
});
