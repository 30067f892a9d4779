// Runs in the browser: plays the match video in one of the players, and records what is on the screen when an overlay appears.
import { MediaPlayer } from "dashjs";
import Hls from "hls.js";
import shaka from "shaka-player";
import videojs from "video.js";
import { createTifo } from "#sdk/core/core.ts";
import type { StreamCue } from "#sdk/cues/index.ts";
import type { OverlayShow } from "#sdk/channel/index.ts";
import type { TifoEventViewModel } from "#sdk/model/event-interface.ts";
import { dashJs, hlsJs, type PlayerOptions, shakaPlayer, videoElement, videoJs, type VideoPlayer } from "#sdk/players/index.ts";
import * as renderer from "#sdk/react/mount.tsx";

export type PlayerName = "hls.js" | "Shaka Player" | "video.js" | "dash.js" | "<video>";

/** A cue of the stream, and the picture's own time when it came. */
export interface SeenCue extends Pick<StreamCue, "kind" | "scheme" | "duration" | "frames"> {
  at: number | null;
  ad: string | undefined;
  splice: string | undefined;
}

export interface MatchOptions extends PlayerOptions {
  name: PlayerName;
  /** The deployment whose channel is watched. */
  origin: string;
  clientId: string;
  channelId: string;
  /** The manifest; for `<video>`, the files of the whole video, in order. */
  sources: string[];
  /** Broadcasts of a recording, which are known before the video plays. */
  recording?: OverlayShow[];
}

/** What a viewer saw when an overlay came, in seconds of the video. */
export interface Sighting {
  broadcastId: string;
  /** The picture's own time when the overlay was about to be rendered. Null: it couldn't be read. */
  appeared: number | null;
  /** The picture's own time when the overlay had been painted. */
  painted: number | null;
}

declare global {
  interface Window {
    playMatch: (options: MatchOptions) => Promise<void>;
    match: {
      video: HTMLVideoElement;
      player: VideoPlayer;
      event: TifoEventViewModel;
      sightings: Sighting[];
      cues: SeenCue[];
      pictureTime: () => number | null;
      replay: (broadcasts: OverlayShow[]) => void;
    };
  }
}

/** Cells of the strip, of 30 by 9 pixels in a picture of 1280 by 720, and how many of them are bits of the number. */
const CELLS = 18;
const BITS = 13;
const STRIP = { width: (CELLS * 30) / 1280, height: 9 / 720 };
const FRAMES_PER_SECOND = 25;

/** Reads the number of the picture that is on the screen, in seconds. */
function pictureReader(video: HTMLVideoElement): () => number | null {
  const canvas = document.createElement("canvas");
  canvas.width = CELLS * 4;
  canvas.height = 4;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return () => {
    const { videoWidth: width, videoHeight: height } = video;
    if (!context || width === 0) return null;
    const strip = [0, height * (1 - STRIP.height), width * STRIP.width, height * STRIP.height] as const;
    context.drawImage(video, ...strip, 0, 0, canvas.width, canvas.height);
    const { data } = context.getImageData(0, 2, canvas.width, 1);
    const cells = Array.from({ length: CELLS }, (_, index) => (data[(index * 4 + 2) * 4] ?? 0) > 128);
    const bits = cells.slice(2, 2 + BITS);
    const intact = cells[0] === true && !cells[1] && !cells[CELLS - 2] && cells[CELLS - 1] === true;
    if (!intact || (bits.filter(Boolean).length % 2 === 1) !== cells[2 + BITS]) return null;
    let number = 0;
    let bit = 0;
    for (const one of bits) {
      bit ^= Number(one);
      number = number * 2 + bit;
    }
    return number / FRAMES_PER_SECOND;
  };
}

const PLAYERS: Record<PlayerName, (video: HTMLVideoElement, sources: string[], options: PlayerOptions) => Promise<VideoPlayer>> = {
  "hls.js": async (video, [source = ""], options) => {
    const hls = new Hls();
    hls.attachMedia(video);
    hls.loadSource(source);
    return hlsJs(hls, options);
  },
  "Shaka Player": async (video, [source = ""], options) => {
    const player = new shaka.Player();
    player.configure("mediaSource.dispatchAllEmsgBoxes", true);
    await player.attach(video);
    await player.load(source);
    return shakaPlayer(player, options);
  },
  "video.js": async (video, [source = ""], options) => {
    const player = videojs(video, { html5: { vhs: { overrideNative: true } } });
    await new Promise<void>((ready) => void player.ready(() => ready()));
    player.src({ src: source, type: source.endsWith(".mpd") ? "application/dash+xml" : "application/vnd.apple.mpegurl" });
    return videoJs(player, options);
  },
  "dash.js": async (video, [source = ""], options) => {
    const player = MediaPlayer().create();
    player.initialize(video, source, true);
    return dashJs(player, options);
  },
  "<video>": async (video, sources, options) => {
    const parts = await Promise.all(sources.map(async (source) => (await fetch(source)).blob()));
    video.src = URL.createObjectURL(new Blob(parts, { type: "video/mp4" }));
    return videoElement(video, options);
  },
};

window.playMatch = async ({ name, origin, clientId, channelId, sources, recording = [], ...options }) => {
  const video = document.querySelector("video");
  const stage = document.querySelector("#overlay");
  if (!video || !stage) throw new Error("The page has no video");
  const sightings: Sighting[] = [];
  const pictureTime = pictureReader(video);
  const sighting = (broadcastId: string) => sightings.findLast((one) => one.broadcastId === broadcastId);
  const tifo = createTifo(renderer, origin);
  tifo.configure({
    clientId,
    delegate: {
      getUserToken: () => null,
      trackImpression({ broadcastId }) {
        const seen = broadcastId === undefined ? undefined : sighting(broadcastId);
        if (seen) seen.painted = pictureTime();
      },
    },
  });
  const player = await PLAYERS[name](video, sources, options);
  const cues: SeenCue[] = [];
  player.onCue(({ kind, scheme, duration, frames, attributes, splice }) =>
    cues.push({ kind, scheme, duration, frames, ad: attributes["X-COM-EXAMPLE-AD"], splice: splice?.command, at: pictureTime() }),
  );
  const event = await tifo.userDidStartWatchingEvent({ channelId, player });
  let shown = new Set<string>();
  event.subscribe(() => {
    const next = new Set(event.getSnapshot().overlays.map(({ broadcastId }) => broadcastId));
    for (const broadcastId of next) if (!shown.has(broadcastId)) sightings.push({ broadcastId, appeared: pictureTime(), painted: null });
    shown = next;
  });
  tifo.renderOverlay(stage);
  window.match = { video, player, event, sightings, cues, pictureTime, replay: (broadcasts) => event.replay(broadcasts) };
  event.replay(recording);
  video.muted = true;
  await video.play();
};
