import { beforeEach, describe, expect, test, vi } from "vitest";
import { clipById } from "#sdk/core/clips.ts";
import { createSession } from "#sdk/core/session.ts";
import type { PanelEvent, TifoEventDelegate } from "#sdk/model/event-delegate.ts";
import { CHANNEL, EventWorld } from "./event-world.ts";

const CLIP = "5eed00000000000000004001";
const URL_OF_CLIP = "https://cdn.example/clip.m3u8";
const CONTENT = `GET /page/v2/content/id/${CHANNEL}`;

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

function load(delegate?: TifoEventDelegate) {
  const configuration = { clientId: "5eed00000000000000000001", origin: "https://tifo.example", deviceId: "sofa", delegate };
  return clipById(CLIP, CHANNEL, createSession(configuration, undefined, world.environment));
}

const video = (url: string | null) => ({ _id: CLIP, title: "Goal", url, gated: url === null });
const content = (url: string | null, error: { type: string; message: string } | null) => ({
  canIPlayResponse: { contentCheck: { video: url === null ? null : { _id: CLIP, url } }, error },
});

describe("the clip of a video", () => {
  test("has the video's own URL if it isn't gated", async () => {
    world.rest[`GET /video/v3/${CLIP}`] = () => video(URL_OF_CLIP);
    expect(await load()).toEqual({ videoId: CLIP, title: "Goal", url: URL_OF_CLIP });
    expect(world.requests).not.toContain(CONTENT);
  });

  test("has the URL from the channel's content if it is gated, requested with its id and this device", async () => {
    let requested: Request | undefined;
    world.rest[`GET /video/v3/${CLIP}`] = () => video(null);
    world.rest[CONTENT] = (request) => ((requested = request), content(`${URL_OF_CLIP}?sig=1`, null));
    expect(await load()).toEqual({ videoId: CLIP, title: "Goal", url: `${URL_OF_CLIP}?sig=1` });
    expect(new URL(requested?.url ?? "").searchParams.get("videoId")).toBe(CLIP);
    expect(requested?.headers.get("Tifo-Device-Id")).toBe("sofa");
  });

  test("is undefined for a viewer who has to sign in first, and the host app is notified", async () => {
    const received: PanelEvent[] = [];
    world.rest[`GET /video/v3/${CLIP}`] = () => video(null);
    world.rest[CONTENT] = () => content(null, { type: "sign_in_required", message: "Sign in to watch" });
    expect(await load({ onPanelEvent: (event) => void received.push(event) })).toBeUndefined();
    expect(received).toMatchObject([{ type: "loginRequested" }]);
  });

  test("is undefined for a viewer who may not play it, and the reason is logged", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    world.rest[`GET /video/v3/${CLIP}`] = () => video(null);
    world.rest[CONTENT] = () => content(null, { type: "no_entitlement", message: "The account lacks an entitlement of season-pass" });
    expect(await load()).toBeUndefined();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("lacks an entitlement"));
  });
});
