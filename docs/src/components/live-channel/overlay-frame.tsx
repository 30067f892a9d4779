import { useLayoutEffect, useRef, useState } from "react";
import type { Position } from "./channel-view.ts";

interface Props {
  html: string;
  position: Position;
  /** Called with the overlay's words when it stands on the screen. */
  onShown: (text: string) => void;
}

function alignment(position: Position): string {
  if (position.endsWith("Left")) return "flex-start";
  return position.endsWith("Right") ? "flex-end" : "center";
}

/** What the frame tells of the overlay that it shows: its height in pixels and its words. */
function shownIn(data: unknown): { height: number; text: string } | undefined {
  if (typeof data !== "object" || data === null || !("type" in data) || data.type !== "tifo.overlay.shown") return undefined;
  if (!("height" in data) || typeof data.height !== "number" || !("text" in data) || typeof data.text !== "string") return undefined;
  return { height: data.height, text: data.text };
}

/** Html that others wrote, in a document without an origin, without scripts of its own and without a way out. */
export function OverlayFrame({ html, position, onShown }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState<number>();

  useLayoutEffect(() => {
    function listen({ source, data }: MessageEvent<unknown>): void {
      if (source === null || source !== frame.current?.contentWindow) return;
      const shown = shownIn(data);
      if (shown === undefined) return;
      setHeight(shown.height);
      onShown(shown.text);
    }
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, [onShown]);

  return (
    <iframe
      ref={frame}
      className="overlay-frame"
      title="Overlay"
      tabIndex={-1}
      src="/overlay-frame"
      sandbox="allow-scripts"
      style={{ height: height ?? 0 }}
      onLoad={() => frame.current?.contentWindow?.postMessage({ type: "tifo.overlay", html, align: alignment(position) }, "*")}
    />
  );
}
