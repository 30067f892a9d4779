import { TifoOverlay } from "#sdk/react/index.ts";

/** The picture, with the overlays of the event over it once there is one. */
export function Stage({ joined }: { joined: boolean }) {
  return (
    <div className="stage">
      <div className="pitch" aria-hidden="true" />
      {joined && <TifoOverlay safeArea={0} />}
    </div>
  );
}
