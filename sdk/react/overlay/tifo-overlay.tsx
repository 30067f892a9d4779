import { type CSSProperties, useCallback, useState } from "react";
import type { OverlayContent, OverlayShow } from "../../channel/index.ts";
import type { OverlayOptions } from "../../model/core.ts";
import type { ShownOverlay } from "../../model/state.ts";
import { useEventState, useSettings, useSurroundings } from "../context.tsx";
import { useLook } from "../look.ts";
import { CallToActionButton } from "./call-to-action.tsx";
import { HtmlFrame } from "./html-frame.tsx";
import { RiveCanvas } from "./rive-canvas.tsx";

type Position = OverlayContent["position"];

// In reading order, which is that of their buttons.
const POSITIONS: readonly Position[] = [
  ...(["topLeft", "topCenter", "topRight"] as const),
  ...(["centerLeft", "center", "centerRight"] as const),
  ...(["bottomLeft", "bottomCenter", "bottomRight"] as const),
];

/** The overlays that are on, each at its position; over the player, and transparent to clicks but for its buttons. */
export function TifoOverlay({ safeArea = 16 }: Pick<OverlayOptions, "safeArea">) {
  const { overlays } = useEventState();
  const { overlays: wanted } = useSettings();
  const look = useLook();
  const [words, setWords] = useState("");
  if (!wanted) return null;
  return (
    <div className="tifo tifo-overlays" {...look} style={{ ...look.style, ...insets(safeArea) }}>
      {POSITIONS.map((position) => (
        <Place key={position} position={position} overlay={overlayAt(position, overlays)} say={setWords} />
      ))}
      <p className="tifo-only-read" role="status">
        {overlays.length > 0 ? words : ""}
      </p>
    </div>
  );
}

interface PlaceProps {
  position: Position;
  overlay: Readonly<OverlayShow> | undefined;
  say: (words: string) => void;
}

/** One position. The frame in which it has shown html stays for the next overlay that comes here. */
function Place({ position, overlay, say }: PlaceProps) {
  const { event, session } = useSurroundings();
  const { reducedMotion } = useSettings();
  const content = overlay?.contents.find((one) => one.position === position);
  const html = content?.kind === "html" ? content.html : null;
  const [framed, setFramed] = useState(false);
  if (html !== null && !framed) setFramed(true);

  const { broadcastId, overlayId } = overlay ?? {};
  const onShown = useCallback(
    (text: string) => {
      say(text);
      if (overlayId !== undefined) event.shown({ kind: "overlay", id: overlayId, broadcastId });
    },
    [say, event, overlayId, broadcastId],
  );
  if (!overlay && !framed) return null;
  return (
    <div className={overlay ? "tifo-overlay" : "tifo-overlay-rest"} data-position={position} data-broadcast={broadcastId}>
      {framed && <HtmlFrame origin={session.origin} id={broadcastId} html={html} position={position} onShown={onShown} />}
      {content?.kind === "rive" && (
        <RiveCanvas key={broadcastId} origin={session.origin} content={content} reducedMotion={reducedMotion} onShown={onShown} />
      )}
      {overlay && content === overlay.contents[0] && <Buttons key={broadcastId} overlay={overlay} />}
    </div>
  );
}

function Buttons({ overlay: { broadcastId, cta } }: { overlay: Readonly<OverlayShow> }) {
  const { event } = useSurroundings();
  return (
    <div className="tifo-overlay-buttons">
      {cta && <CallToActionButton call={cta} />}
      <button type="button" className="tifo-dismiss" aria-label="Hide overlay" onClick={() => event.dismissOverlay(broadcastId)}>
        ×
      </button>
    </div>
  );
}

function overlayAt(position: Position, overlays: readonly ShownOverlay[]): Readonly<OverlayShow> | undefined {
  return overlays.find(({ overlay }) => overlay.contents.some((content) => content.position === position))?.overlay;
}

function insets(area: NonNullable<OverlayOptions["safeArea"]>): CSSProperties {
  const { top, right, bottom, left } = typeof area === "number" ? { top: area, right: area, bottom: area, left: area } : area;
  return { inset: `${top}px ${right}px ${bottom}px ${left}px` };
}
