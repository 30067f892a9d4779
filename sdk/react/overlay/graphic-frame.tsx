import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { OverlayContent } from "../../channel/index.ts";
import { GraphicPlayer } from "../../overlay/graphic/graphic-player.ts";
import { useTexts } from "../context.tsx";

/** How long a graphic has to animate out. */
export const GRAPHIC_EXIT_MS = 1_500;
/** Before that ends, it is told to dispose of what it holds. */
const LAST_MS = 20;

interface Props {
  /** Origin of the deployment, which serves the frame's document and the graphic's files. */
  origin: string;
  broadcastId: string;
  content: Extract<OverlayContent, { kind: "ograf" }>;
  /** Skips animations. */
  still: boolean;
  /** Whether the overlay has ended: the graphic animates out, and is removed afterwards. */
  leaving: boolean;
  /** Called once per broadcast with the graphic's text, when it is visible. */
  onShown: (text: string) => void;
}

/**
 * An OGraf graphic in a sandboxed document of its own, with an opaque origin. It is laid out for the width that its author chose, and scaled
 * to the video.
 */
export function GraphicFrame({ origin, broadcastId, content, still, leaving, onShown }: Props) {
  const { t } = useTexts();
  const frame = useRef<HTMLIFrameElement>(null);
  const player = useRef<GraphicPlayer | null>(null);
  const reported = useRef("");
  const latest = useRef({ broadcastId, content, still, onShown });
  const [failed, setFailed] = useState(false);
  const { graphic, width } = content;

  useLayoutEffect(() => {
    latest.current = { broadcastId, content, still, onShown };
  });

  useScale(frame, width);

  useEffect(() => {
    function listen({ source, data }: MessageEvent<unknown>): void {
      const done = source !== null && source === frame.current?.contentWindow ? doneMessage(data) : undefined;
      if (!done) return;
      if (done.statusCode >= 400) console.warn(`Tifo: the graphic returned ${done.statusCode}`, done.statusMessage);
      const playedBy = player.current?.playedBy ?? Infinity;
      const { broadcastId: id, onShown: report } = latest.current;
      if (done.number < playedBy || reported.current === id) return;
      reported.current = id;
      report(done.text);
    }
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, []);

  useEffect(() => {
    player.current?.show({ broadcastId, data: content.data, actions: content.actions }, latest.current.still);
  }, [broadcastId, content]);

  useEffect(() => {
    if (!leaving) return;
    player.current?.stop(latest.current.still);
    const timer = setTimeout(() => player.current?.dispose(), GRAPHIC_EXIT_MS - LAST_MS);
    return () => clearTimeout(timer);
  }, [leaving]);

  function loaded(): void {
    const element = frame.current;
    // A second document is none of ours: the graphic has led its frame elsewhere.
    if (player.current || !element) return setFailed(true);
    const { clientWidth, clientHeight, contentWindow } = element;
    const resolution = { width: clientWidth, height: clientHeight };
    player.current = new GraphicPlayer((call) => contentWindow?.postMessage(call, "*"));
    player.current.load(
      { broadcastId, data: content.data, actions: content.actions },
      { resolution, frameRate: 60, accessToPublicInternet: false },
      still,
    );
  }

  if (failed) return null;
  return (
    <iframe
      ref={frame}
      className="tifo-graphic-frame"
      title={t("Overlay")}
      tabIndex={-1}
      src={`${origin}/overlay/v1/graphics/${graphic}/frame`}
      sandbox="allow-scripts"
      onLoad={loaded}
    />
  );
}

/** Lays the frame out in the graphic's own pixels, and scales it to its parent. */
function useScale(frame: { current: HTMLIFrameElement | null }, width: number): void {
  useLayoutEffect(() => {
    const element = frame.current;
    const parent = element?.parentElement;
    if (!element || !parent) return;
    const fit = () => {
      const scale = parent.clientWidth / width;
      if (scale === 0) return;
      element.style.width = `${width}px`;
      element.style.height = `${parent.clientHeight / scale}px`;
      element.style.transform = `scale(${scale})`;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(parent);
    return () => observer.disconnect();
  }, [frame, width]);
}

interface DoneMessage {
  number: number;
  statusCode: number;
  statusMessage: string;
  text: string;
}

function doneMessage(data: unknown): DoneMessage | undefined {
  if (typeof data !== "object" || data === null || !("type" in data) || data.type !== "tifo.graphic.done") return undefined;
  if (!("number" in data) || typeof data.number !== "number" || !("statusCode" in data) || typeof data.statusCode !== "number")
    return undefined;
  if (!("statusMessage" in data) || typeof data.statusMessage !== "string" || !("text" in data) || typeof data.text !== "string")
    return undefined;
  const { number, statusCode, statusMessage, text } = data;
  return { number, statusCode, statusMessage, text };
}
