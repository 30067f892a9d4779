import { createHmac, generateKeyPairSync, type KeyObject, timingSafeEqual } from "node:crypto";
import { decodeProtectedHeader, exportJWK, importJWK, jwtVerify } from "jose";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { playbackKeys } from "#db/schema/streams/playback-keys.ts";
import { videos } from "#db/schema/videos.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { getContent } from "#worker/services/pages/content.ts";
import { PlaybackKey } from "#worker/services/sites/playback-key-schemas.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const NOW = Date.UTC(2026, 10, 22, 15);
const SECRET = randomHex(32);
const UID = randomHex(16);
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const verifier = importJWK(publicKey.export({ format: "jwk" }), "RS256");
const pem = (key: KeyObject, type: "pkcs1" | "pkcs8"): string => key.export({ format: "pem", type }).toString();
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const addKey = (body: Record<string, unknown>) => site.call("addPlaybackKey", { body: { keyId: "key-1", ...body } });

async function addVideo(url: string, playback: Record<string, unknown>, durationSeconds = 600): Promise<string> {
  const body = { title: "Derby", durationSeconds, player: "file", type: "vod", url, playback };
  const response = await site.call("createVideo", { body });
  expect(response.status, response.text).toBe(201);
  return response.as(Video)._id;
}

function signedIn(id: string): Pick<Ctx, "claimedAccountId" | "caller"> {
  return { claimedAccountId: id, caller: () => Promise.resolve({ kind: "account", id, sessionId: "", roles: [], tags: [] }) };
}

/** The video that a viewer gets on a page with this data at `NOW`. */
async function played(videoId: string, data: Record<string, unknown> = {}, accountId?: string) {
  const pageId = await site.addChannel(`signed-${randomHex(5)}`, {
    content: { offline: { video_id: videoId }, live: { video_id: videoId } },
    ...data,
  });
  const ctx = {
    ...interruptedContext(site, () => Promise.resolve()),
    now: NOW,
    deviceId: "tv",
    ...(accountId !== undefined && signedIn(accountId)),
  };
  return (await getContent(ctx, { id: pageId }, { country: undefined, description: "" })).video;
}

describe("a signed URL", () => {
  test("for Mux contains a token that Mux can verify", async () => {
    await addKey({ provider: "mux", keyId: "mux-key", key: base64(pem(privateKey, "pkcs1")) });
    const id = await addVideo("https://stream.mux.com/qIJBPlay.m3u8", { provider: "mux", id: "qIJBPlay" });
    const video = await played(id);
    const url = new URL(video?.url ?? "");
    expect(url.origin + url.pathname).toBe("https://stream.mux.com/qIJBPlay.m3u8");
    const { payload, protectedHeader } = await jwtVerify(url.searchParams.get("token") ?? "", await verifier, {
      audience: "v",
      currentDate: new Date(NOW),
    });
    expect(protectedHeader).toMatchObject({ alg: "RS256", kid: "mux-key" });
    expect(payload).toEqual({ sub: "qIJBPlay", aud: "v", kid: "mux-key", exp: NOW / 1000 + 3600 + 600 });
    expect(video?.urlExpires).toBe(NOW + 4_200_000);
  });

  test("for Mux comes with a thumbnail that is signed too, whose parameters are in its token", async () => {
    await addKey({ provider: "mux", keyId: "mux-key", key: base64(pem(privateKey, "pkcs1")) });
    const id = await addVideo("https://stream.mux.com/qIJBShot.m3u8", { provider: "mux", id: "qIJBShot" });
    const own = "https://image.mux.com/qIJBShot/thumbnail.webp?width=640&time=10";
    await db.update(videos).set({ thumbnail: own }).where(eq(videos.id, id));
    const url = new URL((await played(id))?.thumbnail ?? "");
    expect(url.origin + url.pathname).toBe("https://image.mux.com/qIJBShot/thumbnail.webp");
    expect([...url.searchParams.keys()]).toEqual(["token"]);
    const { payload } = await jwtVerify(url.searchParams.get("token") ?? "", await verifier, { audience: "t", currentDate: new Date(NOW) });
    expect(payload).toMatchObject({ sub: "qIJBShot", kid: "mux-key", width: "640", time: "10" });
    const other = "https://image.mux.com/another/thumbnail.webp";
    await db.update(videos).set({ thumbnail: other }).where(eq(videos.id, id));
    expect((await played(id))?.thumbnail).toBe(other);
  });

  test("expires with the entitlement that lets the viewer in", async () => {
    await addKey({ provider: "hmac", keyId: "cdn", key: SECRET, lifetimeSeconds: 3600 });
    const id = await addVideo("https://cdn.demo.example/final/master.m3u8", { provider: "hmac" });
    const { viewer } = site.accounts;
    const row = { siteId: site.id, accountId: viewer.id, sku: "season", grantedMethod: "customerService" as const };
    const held = { ...row, id: newId(1), created: 1, modified: 1, dateGranted: 1 };
    await db.insert(accountEntitlements).values({ ...held, status: "cancelScheduled", dateEnds: NOW + 60_000 });
    const gate = { type: "entitlement", skus: ["season"] };
    expect((await played(id, { gate }, viewer.id))?.urlExpires).toBe(NOW + 60_000);
    await db.update(accountEntitlements).set({ status: "active" }).where(eq(accountEntitlements.id, held.id));
    expect((await played(id, { gate }, viewer.id))?.urlExpires).toBe(NOW + 4_200_000);
  });

  test("for Cloudflare Stream has a token instead of the video's UID", async () => {
    await addKey({ provider: "cloudflare-stream", keyId: "cf-key", key: base64(JSON.stringify(await exportJWK(privateKey))) });
    const id = await addVideo(`https://customer-x.cloudflarestream.com/${UID}/manifest/video.m3u8`, {
      provider: "cloudflare-stream",
      id: UID,
    });
    const url = new URL((await played(id))?.url ?? "");
    const [, token = "", ...rest] = url.pathname.split("/");
    expect(rest).toEqual(["manifest", "video.m3u8"]);
    const { payload, protectedHeader } = await jwtVerify(token, await verifier, { currentDate: new Date(NOW) });
    expect(protectedHeader).toMatchObject({ alg: "RS256", kid: "cf-key" });
    expect(payload).toEqual({ sub: UID, kid: "cf-key", exp: NOW / 1000 + 4200 });
    expect(url.href).not.toContain(UID);
  });

  test("with HMAC is signed completely, including its query", async () => {
    await addKey({ provider: "hmac", keyId: "cdn", key: SECRET, lifetimeSeconds: 60 });
    const id = await addVideo("https://cdn.demo.example/derby/master.m3u8?audio=en%20gb&sig=old&exp=1", { provider: "hmac" }, 0);
    const url = new URL((await played(id))?.url ?? "");
    const [signed = "", signature = ""] = (url.pathname + url.search).split("&sig=");
    const expected = createHmac("sha256", SECRET).update(signed).digest();
    expect(timingSafeEqual(expected, Buffer.from(signature, "hex"))).toBe(true);
    expect(url.searchParams.getAll("exp")).toEqual([String(NOW / 1000 + 60)]);
    expect(url.searchParams.get("kid")).toBe("cdn");
    expect(url.searchParams.get("audio")).toBe("en gb");
  });

  test("is valid no longer than the preview, the schedule or a day", async () => {
    await addKey({ provider: "hmac", keyId: "cdn", key: SECRET, lifetimeSeconds: 43_200 });
    const [id, long] = [
      await addVideo("https://cdn.demo.example/a.m3u8", { provider: "hmac" }),
      await addVideo("https://cdn.demo.example/b.m3u8", { provider: "hmac" }, 100_000),
    ];
    const sku = `preview-${randomHex(4)}`;
    const terms = { subscriptionProvider: "external", recurrence: "once" } as const;
    const offer = { ...terms, sku, name: sku, previewDurationSeconds: 45, prices: [], tags: [] };
    await db.insert(subscriptions).values({ id: newId(NOW), siteId: site.id, created: 1, modified: 1, ...offer });
    const preview = await played(id, { gate: { type: "entitlement", skus: [sku] } });
    const schedule = await played(id, { schedule: { startTimestamp: NOW - 1, endTimestamp: NOW + 90_000 } });
    const day = await played(long);
    expect([preview, schedule, day].map((video) => (video?.urlExpires ?? 0) - NOW)).toEqual([45_000, 90_000, 86_400_000]);
  });

  test("is null without a key, rather than unsigned", async () => {
    const own = await newSite();
    const body = { provider: "hmac", keyId: "cdn", key: SECRET };
    const key = (await own.call("addPlaybackKey", { body })).as(PlaybackKey);
    const video = { title: "Derby", durationSeconds: 60, player: "file", type: "vod", url: "https://cdn.demo.example/c.m3u8" };
    const created = await own.call("createVideo", { body: { ...video, playback: { provider: "hmac" } } });
    expect((await own.call("deletePlaybackKey", { params: { id: key._id } })).status).toBe(204);
    const pageId = await own.addChannel("unsigned", { content: { offline: { video_id: created.as(Video)._id } } });
    const headers = { "Tifo-Device-Id": "tv" };
    const response = await own.call("getContentById", { as: "client", params: { pageId }, headers });
    expect(response.body).toMatchObject({ canIPlayResponse: { contentCheck: { video: { url: null, urlExpires: null } } } });
    expect(response.text).not.toContain("cdn.demo.example");
  });

  test("is signed with the newest key, and only managers get the unsigned URL", async () => {
    for (const keyId of ["older", "newer"]) await addKey({ provider: "hmac", keyId, key: SECRET });
    const id = await addVideo("https://cdn.demo.example/d.m3u8", { provider: "hmac" });
    expect(new URL((await played(id))?.url ?? "").searchParams.get("kid")).toBe("newer");
    const read = async (as: "client" | "developer") => (await site.call("getVideo", { as, params: { id } })).as(Video);
    expect(await read("client")).toMatchObject({ url: null, gated: true });
    expect(await read("client")).not.toHaveProperty("playback");
    expect(await read("developer")).toMatchObject({ url: "https://cdn.demo.example/d.m3u8", playback: { provider: "hmac" } });
  });

  test("is signed however many keys of another provider are newer", async () => {
    await addKey({ provider: "hmac", keyId: "hmac-key", key: SECRET });
    const key = pem(privateKey, "pkcs8");
    for (let index = 0; index < 21; index++) await addKey({ provider: "mux", keyId: `mux-${String(index)}`, key });
    const id = await addVideo("https://cdn.demo.example/e.m3u8", { provider: "hmac" });
    expect(new URL((await played(id))?.url ?? "").searchParams.get("kid")).toBe("hmac-key");
    const ofMux = await addVideo("https://stream.mux.com/aBcD.m3u8", { provider: "mux", id: "aBcD" });
    const token = new URL((await played(ofMux))?.url ?? "").searchParams.get("token") ?? "";
    expect(decodeProtectedHeader(token)).toMatchObject({ kid: "mux-20" });
  });
});

describe("a playback key", () => {
  test("is stored encrypted, and no response or event contains it", async () => {
    const responses = [await addKey({ provider: "hmac", key: SECRET }), await site.call("listPlaybackKeys"), await site.call("listEvents")];
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 200]);
    for (const { text } of responses) expect(text).not.toContain(SECRET);
    const rows = await db.select().from(playbackKeys);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });

  test.for<[what: string, body: Record<string, unknown>]>([
    ["a short secret", { provider: "hmac", key: "short" }],
    ["text that isn't a key", { provider: "mux", key: "not a key at all, whatever its length is" }],
    ["a public key", { provider: "mux", key: publicKey.export({ format: "pem", type: "spki" }).toString() }],
    [
      "a key of another kind",
      { provider: "mux", key: generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString() },
    ],
    [
      "a weak RSA key",
      { provider: "cloudflare-stream", key: pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey, "pkcs8") },
    ],
  ])("can't be %s", async ([, body]) => {
    expect(await addKey(body)).toMatchObject({ status: 400, fields: ["key"] });
  });

  test("must exist before a video can use its provider, and the URL must contain the id", async () => {
    const own = await newSite();
    const create = (url: string, playback: Record<string, unknown>) =>
      own.call("createVideo", { body: { title: "Derby", durationSeconds: 1, player: "file", type: "vod", url, playback } });
    expect(await create("https://stream.mux.com/abc.m3u8", { provider: "mux", id: "abc" })).toMatchObject({
      status: 400,
      fields: ["playback.provider"],
    });
    expect(await create("https://stream.mux.com/other.m3u8", { provider: "mux", id: "abc" })).toMatchObject({
      status: 400,
      fields: ["url"],
    });
    expect(await create("https://stream.mux.com/abc.m3u8", { provider: "mux" })).toMatchObject({ status: 400, fields: ["playback.id"] });
    expect(await create("https://stream.mux.com/abc.m3u8", { provider: "hmac", id: "abc" })).toMatchObject({
      status: 400,
      fields: ["playback.id"],
    });
  });

  test("of another site returns 404, and a viewer can neither add nor list keys", async () => {
    const key = (await addKey({ provider: "hmac", key: SECRET })).as(PlaybackKey);
    const other = await newSite();
    expect((await other.call("deletePlaybackKey", { params: { id: key._id } })).status).toBe(404);
    for (const as of ["viewer", "creator"] as const) expect((await site.call("listPlaybackKeys", { as })).status).toBe(403);
    expect((await site.call("addPlaybackKey", { as: "reader", body: { provider: "hmac", keyId: "x", key: SECRET } })).status).toBe(403);
  });
});
