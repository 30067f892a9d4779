import { TifoOverlay } from "#sdk/react/index.ts";
import type { TifoEventViewModel } from "#sdk/model/event-interface.ts";
import { MatchVideo } from "../match-video/match-video.tsx";

/** The match, with the event's overlays over it once there is an event. */
export function Stage({ event }: { event: TifoEventViewModel | null }) {
  return <MatchVideo event={event}>{event && <TifoOverlay />}</MatchVideo>;
}
