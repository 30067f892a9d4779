import { beforeEach, describe, expect, test, vi } from "vitest";
import { CHANNEL, EventWorld } from "./event-world.ts";

const PATH = `GET /realtime/v1/channels/${CHANNEL}/recording`;
const START = 1_767_200_400_000;

let world: EventWorld;
let queries: Record<string, string>[];

beforeEach(() => {
  world = new EventWorld();
  queries = [];
  vi.stubGlobal("fetch", world.fetch);
});

/** A broadcast as the API returns it, that began `at` seconds after the start. */
function recorded(broadcastId: string, at: number, fields: object = {}) {
  const shown = { type: "overlay.show", seq: 1, upTo: 1, broadcastId, overlayId: "o", position: "center", cta: null, variables: {} };
  const contents = [{ kind: "html", html: broadcastId, position: "center" }];
  return { ...shown, contents, priority: 0, startsAt: START + at * 1000, endsAt: START + (at + 8) * 1000, ...fields };
}

/** Serves a recording, one broadcast a page. */
function serve(broadcasts: object[]): void {
  world.rest[PATH] = ({ url }) => {
    const query = Object.fromEntries(new URL(url).searchParams);
    queries.push(query);
    const page = Number(query.cursor ?? 0);
    return { results: broadcasts.slice(page, page + 1), next: page + 1 < broadcasts.length ? `${page + 1}` : null };
  };
}

/** The event with a video of the recording that is at `at`, and what is on the screen. */
async function watchRecording() {
  const event = await world.watchLoaded();
  let mediaTime = 0;
  event.setPlayer({ mediaTime: () => mediaTime, playing: () => false });
  const shownAt = async (at: number) => {
    mediaTime = at;
    await world.advance(1_000);
    return event.getSnapshot().overlays.map(({ broadcastId }) => broadcastId);
  };
  return { event, shownAt };
}

describe("the recording of a channel", () => {
  test("shows what was on the channel at each time of the video, forwards and backwards", async () => {
    serve([recorded("first", 10), recorded("second", 60), recorded("at the start of the clock", 500, { timecode: 120 })]);
    const { event, shownAt } = await watchRecording();
    await event.replayRecording({ startsAt: START, endsAt: START + 600_000 });
    expect(queries.map(({ cursor = null }) => cursor)).toEqual([null, "1", "2"]);
    expect(queries[0]).toMatchObject({ from: `${START}`, to: `${START + 600_000}` });
    const shown: string[][] = [];
    for (const at of [0, 11, 19, 61, 121, 12]) shown.push(await shownAt(at));
    expect(shown).toEqual([[], ["first"], [], ["second"], ["at the start of the clock"], ["first"]]);
  });

  test("places a timecode since 1970 relative to the start", async () => {
    serve([recorded("goal", 30, { timecode: START / 1000 + 30 })]);
    const { event, shownAt } = await watchRecording();
    await event.replayRecording({ startsAt: START });
    expect([await shownAt(29), await shownAt(30)]).toEqual([[], ["goal"]]);
  });

  test("keeps an overlay on the screen while the video pauses, and stops its clock", async () => {
    serve([recorded("scorebug", 10)]);
    const { event, shownAt } = await watchRecording();
    await event.replayRecording({ startsAt: START });
    expect(await shownAt(12)).toEqual(["scorebug"]);
    await world.advance(3_600_000);
    expect(event.getSnapshot().overlays).toHaveLength(1);
    expect(event.overlayNow("scorebug")).toBe(START + 12_000);
    expect(await shownAt(18.1)).toEqual([]);
  });

  test("rejects if the viewer may not read it", async () => {
    const { event } = await watchRecording();
    await expect(event.replayRecording({ startsAt: START })).rejects.toThrow("404");
  });
});
