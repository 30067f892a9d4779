import { TifoOverlay } from "#sdk/react/index.ts";

/** The video area, with the event's overlays over it once there is an event. */
export function Stage({ joined }: { joined: boolean }) {
  return (
    <div className="stage">
      <div className="pitch" aria-hidden="true" />
      {joined && <TifoOverlay />}
    </div>
  );
}
