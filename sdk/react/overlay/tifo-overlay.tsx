import { type CSSProperties, memo, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { OverlayContent, OverlayShow } from "../../channel/index.ts";
import { createStore, type Store } from "../../core/store.ts";
import type { OverlayOptions } from "../../model/core.ts";
import { useEventState, useSettings, useSdkContext } from "../context.tsx";
import { useThemeAttributes } from "../theme-attributes.ts";
import { CallToActionButton } from "./call-to-action.tsx";
import { HtmlFrame } from "./html-frame.tsx";
import { RiveCanvas } from "./rive-canvas.tsx";

type Position = OverlayContent["position"];
type Overlay = Readonly<OverlayShow>;

// In reading order, which is that of their buttons.
const POSITIONS: readonly Position[] = [
  ...(["topLeft", "topCenter", "topRight"] as const),
  ...(["centerLeft", "center", "centerRight"] as const),
  ...(["bottomLeft", "bottomCenter", "bottomRight"] as const),
];

/** As long as the style sheet's `tifo-leave` takes. */
const LEAVE_MS = 160;

/** The overlays that are on, each at its position; over the player, and transparent to clicks but for its buttons. */
export function TifoOverlay({ safeArea = 16 }: Pick<OverlayOptions, "safeArea">) {
  const { event } = useSdkContext();
  const { overlays: wanted } = useSettings();
  const look = useThemeAttributes();
  useEffect(() => (wanted ? event.attachRenderer() : undefined), [event, wanted]);
  if (!wanted) return null;
  return (
    <div className="tifo tifo-overlays" {...look} style={{ ...look.style, ...insets(safeArea) }}>
      <OverlaySlots />
    </div>
  );
}

/** What changes with every overlay. */
function OverlaySlots() {
  const overlays = useEventState((state) => state.overlays);
  const [words] = useState(() => createStore(""));
  const at = new Map(overlays.flatMap(({ overlay }) => overlay.contents.map(({ position }) => [position, overlay])));
  return (
    <>
      {POSITIONS.map((position) => (
        <OverlaySlot key={position} position={position} overlay={at.get(position)} words={words} />
      ))}
      <LiveRegion words={words} />
    </>
  );
}

/** The words of the overlay that came last, for those who can't see it. */
const LiveRegion = memo(function Words({ words }: { words: Store<string> }) {
  const some = useEventState(({ overlays }) => overlays.length > 0);
  const text = useSyncExternalStore(words.subscribe, words.getSnapshot, words.getSnapshot);
  // Words of the past would be said again when the next overlay comes, before its own.
  useEffect(() => {
    if (!some) words.update(() => "");
  }, [some, words]);
  return (
    <p className="tifo-only-read" role="status">
      {some ? text : ""}
    </p>
  );
});

interface OverlaySlotProps {
  position: Position;
  overlay: Overlay | undefined;
  words: Store<string>;
}

/** One position. The frame in which it has shown html stays for the next overlay that comes here. */
const OverlaySlot = memo(function Place({ position, overlay, words }: OverlaySlotProps) {
  const { event, session } = useSdkContext();
  const { reducedMotion } = useSettings();
  const standing = useLeaving(overlay, reducedMotion);
  const content = standing?.contents.find((one) => one.position === position);
  const html = content?.kind === "html" ? content.html : null;
  const [framed, setFramed] = useState(false);
  if (html !== null && !framed) setFramed(true);

  const { broadcastId, overlayId } = standing ?? {};
  const onShown = useCallback(
    (text: string) => {
      words.update(() => text);
      if (overlayId === undefined || broadcastId === undefined) return;
      event.shown({ kind: "overlay", id: overlayId, broadcastId });
      event.overlayRendered(broadcastId);
    },
    [words, event, overlayId, broadcastId],
  );
  if (!standing && !framed) return null;
  return (
    <div className={classOf(overlay, standing)} data-position={position} data-broadcast={broadcastId}>
      {framed && <HtmlFrame origin={session.origin} id={broadcastId} html={html} position={position} onShown={onShown} />}
      {content?.kind === "rive" && (
        <RiveCanvas key={broadcastId} origin={session.origin} content={content} reducedMotion={reducedMotion} onShown={onShown} />
      )}
      {overlay && content === overlay.contents[0] && <Buttons key={`buttons of ${broadcastId}`} overlay={overlay} />}
    </div>
  );
});

function classOf(overlay: Overlay | undefined, standing: Overlay | undefined): string {
  if (overlay) return "tifo-overlay";
  return standing ? "tifo-overlay tifo-overlay-leaving" : "tifo-overlay-rest";
}

/** The overlay, or for a moment after its end the one that leaves; nothing leaves slowly where nothing is to move. */
function useLeaving(overlay: Overlay | undefined, still: boolean): Overlay | undefined {
  const [last, setLast] = useState(overlay);
  if (overlay && overlay !== last) setLast(overlay);
  const leaves = !overlay && !still && last !== undefined;

  useEffect(() => {
    if (!leaves) return;
    const timer = setTimeout(() => setLast(undefined), LEAVE_MS);
    return () => clearTimeout(timer);
  }, [leaves]);

  return leaves ? last : overlay;
}

function Buttons({ overlay: { broadcastId, cta } }: { overlay: Overlay }) {
  const { event } = useSdkContext();
  return (
    <div className="tifo-overlay-buttons">
      {cta && <CallToActionButton call={cta} />}
      <button type="button" className="tifo-dismiss" aria-label="Hide overlay" onClick={() => event.dismissOverlay(broadcastId)}>
        ×
      </button>
    </div>
  );
}

function insets(area: NonNullable<OverlayOptions["safeArea"]>): CSSProperties {
  const { top, right, bottom, left } = typeof area === "number" ? { top: area, right: area, bottom: area, left: area } : area;
  return { inset: `${top}px ${right}px ${bottom}px ${left}px` };
}
