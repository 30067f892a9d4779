import { useCallback, useLayoutEffect, useRef, useState } from "react";
import type { OverlayContent } from "../../channel/index.ts";
import { useTexts } from "../context.tsx";

interface Props {
  /** Origin of the deployment, which serves the frame's document. */
  origin: string;
  /** Null: the frame stays empty until there is something to show again. */
  html: string | null;
  /** Distinguishes the overlays that the frame shows in turn. */
  id?: string;
  position: OverlayContent["position"];
  /** Called once per overlay with its text, when it is visible. */
  onShown: (text: string) => void;
}

/**
 * Untrusted HTML in a sandboxed document with an opaque origin, without scripts of its own or access to the page. A frame is reused for one
 * overlay after another, because creating it is slow, and keeps its height until the next overlay reports its own.
 */
export function HtmlFrame({ origin, html, id = "", position, onShown }: Props) {
  const { t } = useTexts();
  const frame = useRef<HTMLIFrameElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const wanted = useRef<Wanted>({ id, html: null, position, reported: true });
  const callback = useRef(onShown);
  /** The window that loaded the frame's own document. */
  const ownWindow = useRef<Window | null>(null);
  const [generation, setGeneration] = useState(0);

  useLayoutEffect(() => {
    callback.current = onShown;
  }, [onShown]);

  const send = useCallback(() => {
    const next = wanted.current;
    // The document can't receive messages before it is loaded; its load event sends again.
    if (ownWindow.current !== null && ownWindow.current === frame.current?.contentWindow)
      ownWindow.current.postMessage({ type: "tifo.overlay", id: next.id, html: next.html ?? "", align: alignment(next.position) }, "*");
  }, []);

  useLayoutEffect(() => {
    wanted.current = { id, html, position, reported: false };
    send();
  }, [id, html, position, send]);

  useLayoutEffect(() => {
    function listen({ source, data }: MessageEvent<unknown>): void {
      if (source === null || source !== frame.current?.contentWindow) return;
      const message = shownMessage(data);
      if (message?.id !== wanted.current.id || wanted.current.html === null) return;
      const height = `${message.height}px`;
      if (frame.current.style.height !== height) frame.current.style.height = height;
      // The stage places the box of the html, which may be narrower than the frame.
      if (box.current && message.width > EMPTY_WIDTH) box.current.style.width = `${message.width}px`;
      else box.current?.style.removeProperty("width");
      if (wanted.current.reported) return;
      wanted.current.reported = true;
      callback.current(message.text);
    }
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, []);

  function loaded(): void {
    const window = frame.current?.contentWindow ?? null;
    if (ownWindow.current !== window) {
      // A new frame, or one that the host app has moved in the DOM, which gives it a new window.
      ownWindow.current = window;
      return send();
    }
    // The window has navigated to an unknown document: it receives nothing, and a new frame replaces it, without the HTML that led there.
    wanted.current = { ...wanted.current, html: null };
    setGeneration((count) => count + 1);
  }

  return (
    <div ref={box} className="tifo-overlay-html" data-off={html === null}>
      <iframe
        key={generation}
        ref={frame}
        className="tifo-overlay-frame"
        title={t("Overlay")}
        tabIndex={-1}
        src={`${origin}/overlay-frame`}
        sandbox="allow-scripts"
        style={FIRST_HEIGHT}
        onLoad={loaded}
      />
    </div>
  );
}

// React sets the style only once, so that later changes from outside persist.
const FIRST_HEIGHT = { height: 0 };

/** What the frame should show. */
interface Wanted {
  id: string;
  html: string | null;
  position: OverlayContent["position"];
  /** Whether `onShown` was called for it. */
  reported: boolean;
}

function alignment(position: OverlayContent["position"]): string {
  if (position.endsWith("Left")) return "flex-start";
  return position.endsWith("Right") ? "flex-end" : "center";
}

/** The width of a frame's padding: html that is positioned absolutely has no width of its own. */
const EMPTY_WIDTH = 32;

/** The frame's report about a visible overlay: its size in pixels and its text. */
interface ShownMessage {
  id: string;
  height: number;
  /** 0 from a deployment whose frame doesn't report it. */
  width: number;
  text: string;
}

function shownMessage(data: unknown): ShownMessage | undefined {
  if (typeof data !== "object" || data === null || !("type" in data) || data.type !== "tifo.overlay.shown") return undefined;
  if (!("id" in data) || typeof data.id !== "string") return undefined;
  if (!("height" in data) || typeof data.height !== "number" || !("text" in data) || typeof data.text !== "string") return undefined;
  const width = "width" in data && typeof data.width === "number" ? data.width : 0;
  return { id: data.id, height: data.height, width, text: data.text };
}
