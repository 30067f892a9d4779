import { describe, expect, test } from "vitest";
import type { StreamCue } from "#sdk/cues/index.ts";
import { dashJs, shakaPlayer, videoElement, videoJs, type VideoPlayer } from "#sdk/players/index.ts";

const INSERT = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=";

/** What the adapters use of a video element that is not displayed. */
class FakeVideo extends EventTarget {
  readonly tagName = "VIDEO";
  readonly readyState = 4;
  readonly seeking = false;
  readonly duration = 600;
  currentTime = 0;
  textTracks: { kind: string; mode: string; label?: string; cues: object[] }[] = [];

  playTo(time: number): void {
    this.currentTime = time;
    this.dispatchEvent(new Event("timeupdate"));
  }
}

/** The adapters' types are those of browsers and players, of which they use only what these have. */
function adapt<Player>(create: (player: Player) => VideoPlayer, player: unknown): VideoPlayer {
  if (!standsFor<Player>(player)) throw new Error("Not a player");
  return create(player);
}

function standsFor<Player>(player: unknown): player is Player {
  return typeof player === "object";
}

function seenBy(player: VideoPlayer): StreamCue[] {
  const seen: StreamCue[] = [];
  player.onCue((cue) => seen.push(cue));
  return seen;
}

describe("a video element", () => {
  const cue = (startTime: number, type: string, value: object, endTime = Infinity) => ({ startTime, endTime, type, value });

  test("passes on each ID3 tag of its metadata tracks with all its frames, when it is reached, and again after going back", () => {
    const video = new FakeVideo();
    const frames = [
      cue(5, "org.id3", { key: "TXXX", info: "team", data: "Old Dock" }),
      cue(5, "org.id3", { key: "PRIV", info: "com.example", data: Uint8Array.from([1, 255]).buffer }),
    ];
    video.textTracks = [
      { kind: "metadata", mode: "disabled", cues: frames },
      { kind: "subtitles", mode: "disabled", cues: [cue(5, "org.id3", { key: "TIT2", data: "No" })] },
    ];
    const seen = seenBy(adapt(videoElement, video));
    video.playTo(4.9);
    expect(seen).toEqual([]);
    expect(video.textTracks.map(({ mode }) => mode)).toEqual(["hidden", "disabled"]);
    video.playTo(5.1);
    video.playTo(5.3);
    video.playTo(1);
    video.playTo(5.2);
    const tag = [
      { key: "TXXX", info: "team", value: "Old Dock" },
      { key: "PRIV", info: "com.example", value: "01ff" },
    ];
    expect(seen).toMatchObject([
      { kind: "id3", frames: tag },
      { kind: "id3", frames: tag },
    ]);
  });

  test("passes on a date range with its attributes, and what its SCTE 35 says", () => {
    const video = new FakeVideo();
    const range = (key: string, data: string) => cue(5, "com.apple.quicktime.HLS", { key, data }, 35);
    video.textTracks = [{ kind: "metadata", mode: "hidden", cues: [range("X-COM-EXAMPLE-AD", "Sponsor"), range("SCTE35-OUT", INSERT)] }];
    const seen = seenBy(adapt(videoElement, video));
    video.playTo(20);
    expect(seen).toMatchObject([
      { kind: "daterange", duration: 30, attributes: { "X-COM-EXAMPLE-AD": "Sponsor" }, splice: { command: "insert", out: true } },
    ]);
  });

  test("keeps cues for a listener who comes later, passes none on to one who has left, and forgets them with another stream", () => {
    const video = new FakeVideo();
    const player = adapt(videoElement, video);
    const first: StreamCue[] = [];
    const leave = player.onCue((one) => first.push(one));
    video.textTracks = [
      { kind: "metadata", mode: "hidden", cues: [5, 9].map((time) => cue(time, "org.id3", { key: "TIT2", data: "Goal" })) },
    ];
    video.playTo(1);
    leave();
    video.playTo(5);
    expect(first).toEqual([]);
    const second = seenBy(player);
    expect(second).toHaveLength(1);
    video.dispatchEvent(new Event("emptied"));
    video.playTo(9);
    expect(second).toHaveLength(1);
  });
});

test("dash.js is asked for the event messages that are cues as soon as it finds them", () => {
  const video = new FakeVideo();
  const listeners = new Map<string, (event: unknown) => void>();
  const modes = new Set<unknown>();
  const player = {
    getVideoElement: () => video,
    isReady: () => true,
    isDynamic: () => false,
    on(type: string, listener: (event: unknown) => void, _scope: unknown, { mode }: { mode?: string }) {
      listeners.set(type, listener);
      modes.add(mode);
    },
  };
  const seen = seenBy(adapt(dashJs, player));
  const event = { id: 7, messageData: INSERT, calculatedPresentationTime: 3, duration: 60 };
  listeners.get("urn:scte:scte35:2013:bin")?.({ event });
  listeners.get("urn:scte:scte35:2013:bin")?.({ event: { ...event, id: 8, messageData: { not: "bytes" } } });
  listeners.get("urn:scte:scte35:2013:bin")?.({});
  expect(seen).toEqual([]);
  video.playTo(3);
  expect(seen).toMatchObject([{ kind: "scte35", duration: 60, splice: { command: "insert" } }]);
  expect([...modes]).toEqual(["eventModeOnReceive"]);
});

test("video.js passes on date ranges of its own HLS with the names of their attributes", () => {
  const video = new FakeVideo();
  const start = Date.UTC(2026, 10, 21, 15);
  const range = {
    id: "ad-1",
    class: "com.example.ad",
    startDate: new Date(start + 2_000),
    duration: 30,
    xComExampleAdId: 17,
    startTime: 2,
  };
  const segment = { startTime: 0, endTime: 4, value: { dateTimeObject: new Date(start) } };
  const player = {
    el: () => ({ querySelector: () => video }),
    textTracks: () => [{ kind: "metadata", label: "segment-metadata", cues: [segment] }],
    tech: () => ({ vhs: { playlists: { media: () => ({ dateRanges: [range] }) } } }),
  };
  const seen = seenBy(adapt(videoJs, player));
  video.playTo(1.9);
  expect(seen).toEqual([]);
  video.playTo(2.1);
  expect(seen).toMatchObject([{ id: "ad-1", scheme: "com.example.ad", duration: 30, attributes: { "X-COM-EXAMPLE-AD-ID": "17" } }]);
  expect(seen[0]?.attributes).not.toHaveProperty("START-TIME");
});

test("Shaka Player without lists of its regions has no cues", () => {
  const video = new FakeVideo();
  const player = { getMediaElement: () => video, getPlayheadTimeAsDate: () => null, isLive: () => false };
  const seen = seenBy(adapt(shakaPlayer, player));
  video.playTo(3);
  expect(seen).toEqual([]);
});
