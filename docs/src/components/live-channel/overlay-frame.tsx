import { useLayoutEffect, useRef, useState } from "react";
import type { Position } from "./channel-view.ts";

interface Props {
  html: string;
  position: Position;
  /** Called when the overlay stands on the screen. */
  onShown: () => void;
}

function alignment(position: Position): string {
  if (position.endsWith("Left")) return "flex-start";
  return position.endsWith("Right") ? "flex-end" : "center";
}

function heightIn(data: unknown): number | undefined {
  if (typeof data !== "object" || data === null || !("type" in data) || data.type !== "tifo.overlay.size") return undefined;
  return "height" in data && typeof data.height === "number" ? data.height : undefined;
}

/** Html that others wrote, in a document without an origin, without scripts of its own and without a way out. */
export function OverlayFrame({ html, position, onShown }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState<number>();

  useLayoutEffect(() => {
    function listen({ source, data }: MessageEvent<unknown>): void {
      if (source === null || source !== frame.current?.contentWindow) return;
      const told = heightIn(data);
      if (told === undefined) return;
      setHeight(told);
      onShown();
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
