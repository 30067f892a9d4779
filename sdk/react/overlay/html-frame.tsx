import { useLayoutEffect, useRef, useState } from "react";
import type { OverlayContent } from "../../channel/index.ts";

interface Props {
  /** Origin of the deployment, which serves the frame's document. */
  origin: string;
  html: string;
  position: OverlayContent["position"];
  /** Called with the overlay's words when it stands on the screen. */
  onShown: (text: string) => void;
}

/** Html that others wrote, in a document without an origin, without scripts of its own and without a way out. */
export function HtmlFrame({ origin, html, position, onShown }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(0);

  useLayoutEffect(() => {
    function listen({ source, data }: MessageEvent<unknown>): void {
      if (source === null || source !== frame.current?.contentWindow) return;
      const shown = shownIn(data);
      if (!shown) return;
      setHeight(shown.height);
      onShown(shown.text);
    }
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, [onShown]);

  return (
    <iframe
      ref={frame}
      className="tifo-overlay-frame"
      title="Overlay"
      tabIndex={-1}
      src={`${origin}/overlay-frame`}
      sandbox="allow-scripts"
      style={{ height }}
      onLoad={() => frame.current?.contentWindow?.postMessage({ type: "tifo.overlay", html, align: alignment(position) }, "*")}
    />
  );
}

function alignment(position: OverlayContent["position"]): string {
  if (position.endsWith("Left")) return "flex-start";
  return position.endsWith("Right") ? "flex-end" : "center";
}

/** What the frame tells of the overlay that it shows: its height in pixels and its words. */
function shownIn(data: unknown): { height: number; text: string } | undefined {
  if (typeof data !== "object" || data === null || !("type" in data) || data.type !== "tifo.overlay.shown") return undefined;
  if (!("height" in data) || typeof data.height !== "number" || !("text" in data) || typeof data.text !== "string") return undefined;
  return { height: data.height, text: data.text };
}
