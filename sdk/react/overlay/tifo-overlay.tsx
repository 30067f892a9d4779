import { type CSSProperties, memo, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { OverlayContent, OverlayShow } from "../../channel/index.ts";
import { createStore, type Store } from "../../core/store.ts";
import type { OverlayOptions } from "../../model/core.ts";
import { useEventState, useSettings, useSdkContext, useTexts } from "../context.tsx";
import { useThemeAttributes } from "../theme-attributes.ts";
import { CallToActionButton } from "./call-to-action.tsx";
import { HtmlFrame } from "./html-frame.tsx";
import { RiveCanvas } from "./rive-canvas.tsx";

type Position = OverlayContent["position"];
type Overlay = Readonly<OverlayShow>;

// In reading order, which is also the tab order of their buttons.
const POSITIONS: readonly Position[] = [
  ...(["topLeft", "topCenter", "topRight"] as const),
  ...(["centerLeft", "center", "centerRight"] as const),
  ...(["bottomLeft", "bottomCenter", "bottomRight"] as const),
];

/** The style sheet's own transitions. */
const ENTER = { name: undefined, duration: 240 };
const EXIT = { name: undefined, duration: 160 };

/** The active overlays, each at its position over the player; only their buttons receive clicks. */
export function TifoOverlay({ safeArea = 16 }: Pick<OverlayOptions, "safeArea">) {
  const { event } = useSdkContext();
  const { overlays: enabled } = useSettings();
  const look = useThemeAttributes();
  useEffect(() => (enabled ? event.attachRenderer() : undefined), [event, enabled]);
  if (!enabled) return null;
  return (
    <div className="tifo tifo-overlays" {...look} dir="ltr" style={{ ...look.style, ...insets(safeArea) }}>
      <OverlaySlots />
    </div>
  );
}

/** The part that renders again with every overlay. */
function OverlaySlots() {
  const overlays = useEventState((state) => state.overlays);
  const [latestText] = useState(() => createStore(""));
  const at = new Map(overlays.flatMap(({ overlay }) => overlay.contents.map(({ position }) => [position, overlay])));
  return (
    <>
      {POSITIONS.map((position) => (
        <OverlaySlot key={position} position={position} overlay={at.get(position)} latestText={latestText} />
      ))}
      <LiveRegion latestText={latestText} />
    </>
  );
}

/** The text of the latest overlay, for screen readers. */
const LiveRegion = memo(function LiveRegion({ latestText }: { latestText: Store<string> }) {
  const anyShown = useEventState(({ overlays }) => overlays.length > 0);
  const text = useSyncExternalStore(latestText.subscribe, latestText.getSnapshot, latestText.getSnapshot);
  // Otherwise the next overlay would first announce the previous one's text again.
  useEffect(() => {
    if (!anyShown) latestText.update(() => "");
  }, [anyShown, latestText]);
  return (
    <p className="tifo-only-read" role="status">
      {anyShown ? text : ""}
    </p>
  );
});

interface OverlaySlotProps {
  position: Position;
  overlay: Overlay | undefined;
  latestText: Store<string>;
}

/** One position. Its frame is kept for the next overlay with HTML. */
const OverlaySlot = memo(function OverlaySlot({ position, overlay, latestText }: OverlaySlotProps) {
  const { event, session } = useSdkContext();
  const { reducedMotion } = useSettings();
  const { enter = ENTER, exit = EXIT } = useEventState((state) => state.transitions) ?? {};
  const visible = useLeaving(overlay, reducedMotion || exit.name === "none" ? 0 : exit.duration);
  const content = visible?.contents.find((one) => one.position === position);
  const html = content?.kind === "html" ? content.html : null;
  const [framed, setFramed] = useState(false);
  if (html !== null && !framed) setFramed(true);

  const { broadcastId, overlayId } = visible ?? {};
  const onShown = useCallback(
    (text: string) => {
      latestText.update(() => text);
      if (overlayId === undefined || broadcastId === undefined) return;
      event.trackImpression({ kind: "overlay", id: overlayId, broadcastId });
      event.overlayRendered(broadcastId);
    },
    [latestText, event, overlayId, broadcastId],
  );
  if (!visible && !framed) return null;
  return (
    <div
      className={classOf(overlay, visible)}
      data-position={position}
      data-broadcast={broadcastId}
      data-enter={enter.name}
      data-exit={exit.name}
      style={{ "--tifo-enter": `${enter.duration}ms`, "--tifo-exit": `${exit.duration}ms` }}
    >
      {framed && <HtmlFrame origin={session.origin} id={broadcastId} html={html} position={position} onShown={onShown} />}
      {content?.kind === "rive" && (
        <RiveCanvas key={broadcastId} origin={session.origin} content={content} reducedMotion={reducedMotion} onShown={onShown} />
      )}
      {overlay && content === overlay.contents[0] && <Buttons key={`buttons of ${broadcastId}`} overlay={overlay} />}
    </div>
  );
});

function classOf(overlay: Overlay | undefined, visible: Overlay | undefined): string {
  if (overlay) return "tifo-overlay";
  return visible ? "tifo-overlay tifo-overlay-leaving" : "tifo-overlay-idle";
}

/** The overlay, or the previous one while it animates out for `duration` ms. */
function useLeaving(overlay: Overlay | undefined, duration: number): Overlay | undefined {
  const [last, setLast] = useState(overlay);
  if (overlay && overlay !== last) setLast(overlay);
  const isLeaving = !overlay && duration > 0 && last !== undefined;

  useEffect(() => {
    if (!isLeaving) return;
    const timer = setTimeout(() => setLast(undefined), duration);
    return () => clearTimeout(timer);
  }, [isLeaving, duration]);

  return isLeaving ? last : overlay;
}

function Buttons({ overlay: { overlayId, broadcastId, cta } }: { overlay: Overlay }) {
  const { t, dir } = useTexts();
  const { event } = useSdkContext();
  return (
    <div className="tifo-overlay-buttons" dir={dir}>
      {cta && <CallToActionButton call={cta} overlayId={overlayId} broadcastId={broadcastId} />}
      <button type="button" className="tifo-dismiss" aria-label={t("Hide overlay")} onClick={() => event.dismissOverlay(broadcastId)}>
        ×
      </button>
    </div>
  );
}

function insets(area: NonNullable<OverlayOptions["safeArea"]>): CSSProperties {
  const { top, right, bottom, left } = typeof area === "number" ? { top: area, right: area, bottom: area, left: area } : area;
  return { inset: `${top}px ${right}px ${bottom}px ${left}px` };
}
