import { env } from "cloudflare:workers";
import { Api } from "#worker/app.ts";
import { expect, test } from "vitest";
import { ORIGIN } from "#test/harness.ts";

const api = new Api();
const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };

async function get(path: string, development: boolean): Promise<Response> {
  return api.fetch(new Request(ORIGIN + path), { ...env, TIFO_DEVELOPMENT: String(development) }, context);
}

test("the demo's live stream exists only where the demo data is", async () => {
  for (const file of ["live.m3u8", "live.mpd", "240p.m3u8"]) {
    expect((await get(`/demo/match/${file}`, false)).status).toBe(404);
    expect((await get(`/demo/match/${file}`, true)).status).toBe(200);
  }
  expect((await get("/demo/match/other.m3u8", true)).status).toBe(404);
});

test("its playlists can be read by players on any origin, and are fresh", async () => {
  const { headers } = await get("/demo/match/240p.m3u8", true);
  expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(headers.get("Cache-Control")).toBe("max-age=1");
  expect(headers.get("Content-Type")).toBe("application/vnd.apple.mpegurl");
});
