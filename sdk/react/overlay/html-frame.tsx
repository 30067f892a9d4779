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
 * after the other, as making a frame is what takes long, and keeps its height until the next one tells its own.
 */
export function HtmlFrame({ origin, html, id = "", position, onShown }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const wanted = useRef<Wanted>({ id, html: null, position, told: true });
  const tell = useRef(onShown);
  /** The window in which the frame's own document was loaded. */
  const own = useRef<Window | null>(null);
  const [made, setMade] = useState(0);

  useLayoutEffect(() => {
    tell.current = onShown;
  }, [onShown]);

  const send = useCallback(() => {
    const { id: of, html: text, position: at } = wanted.current;
    // Before the document is loaded nobody hears it; its load sends again.
    if (own.current !== null && own.current === frame.current?.contentWindow)
      own.current.postMessage({ type: "tifo.overlay", id: of, html: text ?? "", align: alignment(at) }, "*");
  }, []);

  useLayoutEffect(() => {
    wanted.current = { id, html, position, told: false };
    send();
  }, [id, html, position, send]);

  useLayoutEffect(() => {
    function listen({ source, data }: MessageEvent<unknown>): void {
      if (source === null || source !== frame.current?.contentWindow) return;
      const answer = shownIn(data);
      if (answer?.id !== wanted.current.id || wanted.current.html === null) return;
      const height = `${answer.height}px`;
      if (frame.current.style.height !== height) frame.current.style.height = height;
      if (wanted.current.told) return;
      wanted.current.told = true;
      tell.current(answer.text);
    }
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, []);

  function loaded(): void {
    const window = frame.current?.contentWindow ?? null;
    if (own.current !== window) {
      // A new frame, or one that the host app has moved to another place, which gives it another window.
      own.current = window;
      return send();
    }
    // A second document of one window may be anybody's: it gets nothing, and a new frame takes its place, without what led there.
    wanted.current = { ...wanted.current, html: null };
    setMade((count) => count + 1);
  }

  return (
    <iframe
      key={made}
      ref={frame}
      className="tifo-overlay-frame"
      title="Overlay"
      tabIndex={-1}
      src={`${origin}/overlay-frame`}
      sandbox="allow-scripts"
      style={FIRST_HEIGHT}
      onLoad={loaded}
    />
  );
}

// Set from outside of React afterwards, which leaves alone what it has set once.
const FIRST_HEIGHT = { height: 0 };

/** What the frame is to show. */
interface Wanted {
  id: string;
  html: string | null;
  position: OverlayContent["position"];
  /** Whether its words were told. */
  told: boolean;
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
