import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { providerEvents } from "#db/schema/data-providers.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { loadsOf, PLAYLIST_HOST, servePlaylist } from "#test/playlists.ts";
import { newDataProvider } from "#test/providers.ts";
import { MAX_NEW, MAX_SEEN } from "#worker/durable-objects/cue-poller.ts";
import { cuePollerOf } from "#worker/durable-objects/stubs.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const AD_OUT = "0xFC302F000000000000FFFFF014054800008F7FEFFE7369C02EFE0052CCF500000000000A0008435545490000013562DBA30A";
const SCHEMA = {
  type: "object",
  required: ["cue"],
  properties: { cue: { type: "object", required: ["id"], properties: { id: { type: "string" }, class: { type: "string" } } } },
};

let site: TestSite;
let providerId: string;
let src: string;

beforeEach(async () => {
  site = await newSite();
  providerId = (await newDataProvider(site, { schema: SCHEMA })).id;
  src = `https://${PLAYLIST_HOST}/${randomHex(6)}.m3u8`;
});

/** Connects the playlist, and waits until the object has been told. */
async function connect(cues: object[] = [{ src, dataProviderId: providerId }], hosts = [PLAYLIST_HOST]) {
  return site.call("updateSite", { body: { name: "Cues", settings: { manifest: { hosts, cues } } } });
}

const range = (id: string, startsIn = 0, more = "") =>
  `#EXT-X-DATERANGE:ID="${id}",CLASS="com.example.ad",START-DATE="${new Date(Date.now() + startsIn * 1000).toISOString()}"${more}`;
const playlist = (...ranges: string[]) =>
  servePlaylist(src, ["#EXTM3U", "#EXT-X-TARGETDURATION:6", ...ranges, "#EXTINF:6,", "1.ts", ""].join("\n"));

/** Reads the playlist, as the object's alarm would when it is due. */
function poll(): Promise<void> {
  return runInDurableObject(cuePollerOf(env, site.id), async (instance, state) => {
    state.storage.sql.exec("DELETE FROM sources");
    await instance.alarm();
    await state.storage.deleteAlarm();
  });
}

async function eventsOf(id = providerId) {
  const rows = await db.select().from(providerEvents).where(eq(providerEvents.providerId, id));
  return rows.map(({ event }) => event);
}

const WithId = z.object({ cue: z.looseObject({ id: z.string() }) });
const ids = async () => (await eventsOf()).map((event) => WithId.parse(event).cue.id).sort();

describe("the cues of a connected playlist", () => {
  test("become one event each, however often the playlist is read", async () => {
    playlist(range("first"), range("second", 0, ',DURATION=30.5,X-COM-EXAMPLE-AD-ID="XYZ"'));
    await connect();
    await poll();
    await poll();
    playlist(range("second"), range("third"));
    await poll();
    expect(await ids()).toEqual(["first", "second", "third"]);
    const second = (await eventsOf()).find((event) => WithId.parse(event).cue.id === "second");
    expect(second).toMatchObject({ cue: { class: "com.example.ad", duration: 30.5, attributes: { "X-COM-EXAMPLE-AD-ID": "XYZ" } } });
  });

  test("are read at once when the settings change", async () => {
    playlist(range("now"));
    await connect();
    await vi.waitUntil(async () => (await ids()).includes("now"), { interval: 50 });
  });

  test("say what their SCTE 35 section says", async () => {
    playlist(range("break", 0, `,SCTE35-OUT=${AD_OUT}`));
    await connect();
    await poll();
    const [event] = await eventsOf();
    expect(event).toMatchObject({ cue: { splice: { command: "insert", out: true, eventId: 1207959695, duration: 60.29356666666666 } } });
  });

  test("that began more than a minute ago are left out, and those to come wait for their start", async () => {
    playlist(range("old", -120), range("soon", 600));
    await connect();
    await poll();
    expect(await ids()).toEqual([]);
    playlist(range("soon", 600), range("now"));
    await runInDurableObject(cuePollerOf(env, site.id), (_, state) => void state.storage.sql.exec("UPDATE pending SET due = 0"));
    await poll();
    expect(await ids()).toEqual(["now", "soon"]);
  });

  test("are those of the first variant of a multivariant playlist", async () => {
    const main = `https://${PLAYLIST_HOST}/${randomHex(6)}.m3u8`;
    servePlaylist(main, ["#EXTM3U", "#EXT-X-STREAM-INF:BANDWIDTH=1", src.slice(src.lastIndexOf("/") + 1), ""].join("\n"));
    playlist(range("in-variant"));
    await connect([{ src: main, dataProviderId: providerId }]);
    await poll();
    expect(await ids()).toEqual(["in-variant"]);
  });

  test("don't include the broadcasts that Tifo itself adds to playlists", async () => {
    playlist(range("tifo-1").replace("com.example.ad", "tifo.overlay"));
    await connect();
    await poll();
    expect(await ids()).toEqual([]);
  });

  test("that are passed on again, as after a crash, count once", async () => {
    playlist(range("kept"));
    await connect();
    await poll();
    const event = JSON.stringify({ cue: { id: "kept" } });
    await runInDurableObject(cuePollerOf(env, site.id), (_, state) => {
      state.storage.sql.exec("INSERT INTO pending (key, due, provider, event) SELECT key, 0, ?, ? FROM seen", providerId, event);
    });
    await poll();
    expect(await ids()).toEqual(["kept"]);
    const left = await runInDurableObject(cuePollerOf(env, site.id), (_, state) =>
      state.storage.sql.exec("SELECT key FROM pending").toArray(),
    );
    expect(left).toEqual([]);
  });

  test("that the provider's schema doesn't allow are left out, and the others pass", async () => {
    const strict = (
      await newDataProvider(site, {
        schema: { ...SCHEMA, properties: { cue: { ...SCHEMA.properties.cue, properties: { id: { enum: ["good"] } } } } },
      })
    ).id;
    playlist(range("bad"), range("good"));
    await connect([{ src, dataProviderId: strict }]);
    await poll();
    expect((await eventsOf(strict)).map((event) => WithId.parse(event).cue.id)).toEqual(["good"]);
  });
});

describe("a playlist with ever more cues", () => {
  test("causes at most 20 events per read, and loses none", async () => {
    const all = Array.from({ length: 5 * MAX_NEW }, (_, index) => `cue-${String(index).padStart(3, "0")}`);
    // Without a start, they begin when they are found.
    playlist(...all.map((id) => `#EXT-X-DATERANGE:ID="${id}",CLASS="com.example.ad"`));
    await connect();
    while ((await ids()).length < all.length) await poll();
    expect(await ids()).toEqual(all);
    expect(loadsOf(src)).toBeGreaterThanOrEqual(5);
  });

  test("is read again soon, also if it won't change, before its other cues are too old", async () => {
    // How long the source waits after what it has found last; null before it was read.
    const wait = () =>
      runInDurableObject(cuePollerOf(env, site.id), (_, { storage }) => {
        const query = "SELECT next, (SELECT max(at) FROM seen) AS found FROM sources";
        const [source] = storage.sql.exec<{ next: number; found: number }>(query).toArray();
        return source ? source.next - source.found : null;
      });
    const last = "#EXT-X-ENDLIST";
    playlist(range("first"), last);
    await connect();
    await vi.waitUntil(async () => (await wait()) !== null, { interval: 20 });
    expect(await wait()).toBeGreaterThanOrEqual(60_000);
    playlist(...Array.from({ length: MAX_NEW + 1 }, (_, index) => `#EXT-X-DATERANGE:ID="cue-${index}",CLASS="com.example.ad"`), last);
    await poll();
    expect(await wait()).toBeLessThan(60_000);
    await poll();
    expect(await wait()).toBeGreaterThanOrEqual(60_000);
  });

  test("is remembered up to a limit, the latest cues", async () => {
    playlist(range("latest"));
    await connect();
    await vi.waitUntil(async () => (await ids()).length === 1, { interval: 20 });
    const kept = await runInDurableObject(cuePollerOf(env, site.id), async (instance, { storage }) => {
      storage.sql.exec(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO seen SELECT 'older-' || i, ? + i FROM n",
        MAX_SEEN + 100,
        Date.now() - MAX_SEEN - 1000,
      );
      const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 120_000);
      await instance.alarm();
      clock.mockRestore();
      await storage.deleteAlarm();
      return storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM seen").one().count;
    });
    expect(kept).toBe(MAX_SEEN);
    expect(await ids()).toEqual(["latest"]);
  });
});

describe("a source", () => {
  test("must name a data provider of the site", async () => {
    const foreign = await newSite();
    const theirs = (await newDataProvider(foreign)).id;
    const response = await connect([{ src, dataProviderId: theirs }]);
    expect(response.fields).toEqual(["settings.manifest.cues.0.dataProviderId"]);
  });

  test("at a host that isn't allowed, or no longer, isn't read", async () => {
    playlist(range("never"));
    await connect(undefined, ["elsewhere.example"]);
    await poll();
    expect(loadsOf(src)).toBe(0);
  });

  test("that is removed is read no more", async () => {
    playlist(range("once"));
    await connect();
    await vi.waitUntil(() => loadsOf(src) > 0, { interval: 20 });
    await poll();
    await connect([]);
    await poll();
    const before = loadsOf(src);
    await poll();
    expect(loadsOf(src)).toBe(before);
    const alarm = await runInDurableObject(cuePollerOf(env, site.id), (_, state) => state.storage.getAlarm());
    expect(alarm).toBeNull();
  });

  test("that fails is tried less and less often, and goes on when it is back", async () => {
    servePlaylist(src, "", { status: 500 });
    await connect();
    // The effect of the new settings has been done, which starts the count over.
    await vi.waitUntil(() => loadsOf(src) > 0, { interval: 20 });
    const failures: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      failures.push(
        await runInDurableObject(cuePollerOf(env, site.id), async (instance, state) => {
          state.storage.sql.exec("UPDATE sources SET next = 0");
          await instance.alarm();
          return state.storage.sql.exec<{ failures: number }>("SELECT failures FROM sources").one().failures;
        }),
      );
    }
    const [first = 0] = failures;
    expect(failures).toEqual([first, first + 1, first + 2]);
    playlist(range("back"));
    await poll();
    expect(await ids()).toEqual(["back"]);
  });
});
