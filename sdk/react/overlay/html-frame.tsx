import { useCallback, useLayoutEffect, useRef, useState } from "react";
import type { OverlayContent } from "../../channel/index.ts";

interface Props {
  /** Origin of the deployment, which serves the frame's document. */
  origin: string;
  /** Null: the frame rests, empty, until there is something to show again. */
  html: string | null;
  /** Tells one overlay from the next that the frame shows. */
  id?: string;
  position: OverlayContent["position"];
  /** Called once with the words of each overlay, when it stands on the screen. */
  onShown: (text: string) => void;
}

/**
 * Html that others wrote, in a document without an origin, without scripts of its own and without a way out. One frame shows one overlay
 * after the other: making a frame is what takes long.
 */
export function HtmlFrame({ origin, html, id = "", position, onShown }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [shown, setShown] = useState<Shown | null>(null);

  const send = useCallback(() => {
    frame.current?.contentWindow?.postMessage({ type: "tifo.overlay", id, html: html ?? "", align: alignment(position) }, "*");
  }, [id, html, position]);

  // Before the document is loaded nobody hears it; its load sends again.
  useLayoutEffect(send, [send]);

  useLayoutEffect(() => {
    if (html === null) return;
    let told = false;
    function listen({ source, data }: MessageEvent<unknown>): void {
      if (source === null || source !== frame.current?.contentWindow) return;
      const answer = shownIn(data);
      if (answer?.id !== id) return;
      setShown(answer);
      if (!told) onShown(answer.text);
      told = true;
    }
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, [id, html, onShown]);

  return (
    <iframe
      ref={frame}
      className="tifo-overlay-frame"
      title="Overlay"
      tabIndex={-1}
      src={`${origin}/overlay-frame`}
      sandbox="allow-scripts"
      style={{ height: html !== null && shown?.id === id ? shown.height : 0 }}
      onLoad={send}
    />
  );
}

function alignment(position: OverlayContent["position"]): string {
  if (position.endsWith("Left")) return "flex-start";
  return position.endsWith("Right") ? "flex-end" : "center";
}

/** What the frame tells of an overlay that it shows: its height in pixels and its words. */
interface Shown {
  id: string;
  height: number;
  text: string;
}

function shownIn(data: unknown): Shown | undefined {
  if (typeof data !== "object" || data === null || !("type" in data) || data.type !== "tifo.overlay.shown") return undefined;
  if (!("id" in data) || typeof data.id !== "string") return undefined;
  if (!("height" in data) || typeof data.height !== "number" || !("text" in data) || typeof data.text !== "string") return undefined;
  return { id: data.id, height: data.height, text: data.text };
}
