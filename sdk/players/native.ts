import type { VideoPlayer } from "../model/player.ts";
import type { PlayerOptions } from "./adapter.ts";
import { onlyNew, parseDataCues } from "./data-cues.ts";
import { elementsOf } from "./loose.ts";
import { nativeSource } from "./native-source.ts";
import { createPlayer } from "./player-cues.ts";

/** A `<video>` element without a library, such as Safari's own HLS. `programmeStart` needs a browser that reports the stream's clock. */
export function videoElement(video: HTMLVideoElement, options?: PlayerOptions): VideoPlayer {
  const newOf = onlyNew();
  return createPlayer(nativeSource(video), { read: (cues) => cues.parsed(parseDataCues(newOf(metadataCues(video)))) }, options);
}

/** What the browser reports of the stream's metadata. Only Safari does. */
function metadataCues({ textTracks }: HTMLVideoElement): unknown[] {
  return Array.from(textTracks ?? []).flatMap((track) => {
    if (track.kind !== "metadata") return [];
    // A disabled track has no cues, and none of this kind is ever shown.
    if (track.mode === "disabled") track.mode = "hidden";
    return elementsOf(track.cues);
  });
}
