import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { oembed, publishVideo, youtube } from "#test/video-platforms.ts";
import { findMetadata } from "#worker/integrations/oembed.ts";
import { VideoMetadata } from "#worker/services/videos/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

beforeEach(() => {
  oembed.clear();
  youtube.errors = [];
});

const lookUp = (url: string) => site.call("getVideoMetadata", { query: { url } });

const PLAYERS = [
  ["vimeo", "https://vimeo.com/76979871"],
  ["dailymotion", "https://www.dailymotion.com/video/x8abcde"],
  ["dailymotion", "https://dai.ly/x8abcde"],
  ["soundcloud", "https://soundcloud.com/harbour-city/anthem"],
  ["mixcloud", "https://www.mixcloud.com/harbour-city/half-time/"],
] as const;

describe("a metadata lookup", () => {
  test.each(PLAYERS)("queries %s for %s", async (player, url) => {
    const body = {
      title: "Highlights",
      description: "All goals",
      thumbnail_url: "https://i.demo.example/a.jpg",
      duration: 62,
      html: "<b>",
    };
    oembed.set(url, { player, body });
    expect((await lookUp(url)).as(VideoMetadata)).toEqual({
      title: "Highlights",
      description: "All goals",
      durationSeconds: 62,
      player,
      thumbnail: "https://i.demo.example/a.jpg",
      type: "vod",
      url,
      tags: [],
      created: null,
      modified: null,
    });
  });

  test("returns null for what the player doesn't provide", async () => {
    const url = "https://vimeo.com/1";
    for (const thumbnail_url of [undefined, null, "http://i.demo.example/a.jpg"]) {
      oembed.set(url, { player: "vimeo", body: { title: "Highlights", thumbnail_url } });
      expect((await lookUp(url)).as(VideoMetadata)).toMatchObject({ description: "", durationSeconds: null, thumbnail: null });
    }
  });

  test("uses YouTube's Data API with a key, which provides duration, tags and date", async () => {
    const thumbnails = { default: { url: "https://i.demo.example/s.jpg" }, high: { url: "https://i.demo.example/l.jpg" } };
    publishVideo("aaaaaaaaaaa", { tags: ["derby"], publishedAt: "2026-11-01T12:00:00Z", thumbnails }, "PT1H2M3S");
    for (const url of [
      "https://youtu.be/aaaaaaaaaaa",
      "https://m.youtube.com/watch?v=aaaaaaaaaaa",
      "https://www.youtube.com/live/aaaaaaaaaaa",
    ])
      expect((await lookUp(url)).as(VideoMetadata)).toEqual({
        title: "Video aaaaaaaaaaa",
        description: "",
        durationSeconds: 3723,
        player: "youtube",
        thumbnail: "https://i.demo.example/l.jpg",
        type: "vod",
        url,
        tags: ["derby"],
        created: Date.UTC(2026, 10, 1, 12),
        modified: null,
      });
  });

  test("recognizes a YouTube livestream", async () => {
    publishVideo("bbbbbbbbbbb", { liveBroadcastContent: "live" }, "P0D");
    const response = await lookUp("https://www.youtube.com/watch?v=bbbbbbbbbbb");
    expect(response.as(VideoMetadata)).toMatchObject({ type: "livestream", durationSeconds: 0 });
  });

  test.for(["", "P1W", "an hour"])("ignores an invalid duration from YouTube: %s", async (duration) => {
    publishVideo("ccccccccccc", {}, duration);
    expect((await lookUp("https://youtu.be/ccccccccccc")).problem).toMatchObject({ status: 503, code: "unavailable" });
  });

  test("uses oEmbed for YouTube without a key", async () => {
    const url = "https://www.youtube.com/watch?v=aaaaaaaaaaa";
    oembed.set(url, { player: "youtube", body: { title: "By oEmbed" } });
    expect(await findMetadata({ ...env, ...{ TIFO_YOUTUBE_KEY: "" } }, url)).toMatchObject({ title: "By oEmbed", player: "youtube" });
  });

  test("uses the deployment's own endpoint if it has one", async () => {
    const url = "https://vimeo.com/2";
    oembed.set(url, { player: "soundcloud", body: { title: "By another" } });
    expect(await findMetadata({ ...env, TIFO_OEMBED_URL: "https://soundcloud.com/oembed" }, url)).toMatchObject({
      title: "By another",
      player: "vimeo",
    });
  });

  test("is rejected for other players", async () => {
    for (const url of ["https://demo.example/a.mp4", "https://notvimeo.com/1", "https://vimeo.com.demo.example/1"])
      expect((await lookUp(url)).fields, url).toEqual(["url"]);
    expect((await lookUp("ftp://vimeo.com/1")).fields).toEqual(["url"]);
  });

  test("reports a missing video, and an unexpected response of the player", async () => {
    expect((await lookUp("https://vimeo.com/404")).status).toBe(404);
    expect((await lookUp("https://www.youtube.com/watch?v=unknown")).status).toBe(404);
    oembed.set("https://vimeo.com/403", { player: "vimeo", status: 403, body: {} });
    expect((await lookUp("https://vimeo.com/403")).status).toBe(404);
    oembed.set("https://vimeo.com/500", { player: "vimeo", status: 500, body: {} });
    expect((await lookUp("https://vimeo.com/500")).status).toBe(503);
    oembed.set("https://vimeo.com/2", { player: "vimeo", body: { title: 7 } });
    expect((await lookUp("https://vimeo.com/2")).status).toBe(503);
    youtube.errors = [403];
    expect((await lookUp("https://youtu.be/aaaaaaaaaaa")).problem?.code).toBe("unavailable");
  });
});
