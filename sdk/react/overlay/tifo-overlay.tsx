import { type CSSProperties, useCallback, useState } from "react";
import type { OverlayContent, OverlayShow } from "../../channel/index.ts";
import type { OverlayOptions } from "../../model/core.ts";
import { useEventState, useSettings, useSurroundings } from "../context.tsx";
import { useLook } from "../look.ts";
import { CallToActionButton } from "./call-to-action.tsx";
import { HtmlFrame } from "./html-frame.tsx";
import { RiveCanvas } from "./rive-canvas.tsx";

/** The overlays that are on, each at its position; over the player, and transparent to clicks but for its buttons. */
export function TifoOverlay({ safeArea = 16 }: Pick<OverlayOptions, "safeArea">) {
  const { overlays } = useEventState();
  const { overlays: wanted } = useSettings();
  const look = useLook();
  const [words, setWords] = useState("");
  if (!wanted) return null;
  return (
    <div className="tifo tifo-overlays" {...look} style={{ ...look.style, ...insets(safeArea) }}>
      {overlays.map(({ broadcastId, overlay }) => (
        <Overlay key={broadcastId} overlay={overlay} say={setWords} />
      ))}
      <p className="tifo-only-read" role="status">
        {overlays.length > 0 ? words : ""}
      </p>
    </div>
  );
}

interface OverlayProps {
  overlay: Readonly<OverlayShow>;
  say: (words: string) => void;
}

function Overlay({ overlay, say }: OverlayProps) {
  const { event } = useSurroundings();
  const { broadcastId, overlayId, contents, cta } = overlay;
  const onShown = useCallback(
    (words: string) => {
      say(words);
      event.shown({ kind: "overlay", id: overlayId, broadcastId });
    },
    [say, event, overlayId, broadcastId],
  );
  return contents.map((content, index) => (
    <div key={content.position} className="tifo-overlay" data-position={content.position} data-broadcast={broadcastId}>
      <Content content={content} onShown={onShown} />
      {index === 0 && (
        <div className="tifo-overlay-buttons">
          {cta && <CallToActionButton call={cta} />}
          <button type="button" className="tifo-dismiss" aria-label="Hide overlay" onClick={() => event.dismissOverlay(broadcastId)}>
            ×
          </button>
        </div>
      )}
    </div>
  ));
}

function Content({ content, onShown }: { content: OverlayContent; onShown: (words: string) => void }) {
  const { session } = useSurroundings();
  const { reducedMotion } = useSettings();
  return content.kind === "html" ? (
    <HtmlFrame origin={session.origin} html={content.html} position={content.position} onShown={onShown} />
  ) : (
    <RiveCanvas origin={session.origin} content={content} reducedMotion={reducedMotion} onShown={onShown} />
  );
}

function insets(area: NonNullable<OverlayOptions["safeArea"]>): CSSProperties {
  const { top, right, bottom, left } = typeof area === "number" ? { top: area, right: area, bottom: area, left: area } : area;
  return { inset: `${top}px ${right}px ${bottom}px ${left}px` };
}
