import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useSdkContext, useTexts } from "../../react/context.tsx";
import { GRAPHIC_EXIT_MS, type SlotContentProps } from "../../react/overlay/slot-content.ts";
import { GraphicPlayer } from "./graphic-player.ts";

/** Before its exit ends, a graphic is told to dispose of what it holds. */
const LAST_MS = 20;
/** How many failed calls of a graphic are logged. */
const MAX_WARNINGS = 20;

/**
 * An OGraf graphic in a sandboxed document of its own, with an opaque origin. It is laid out for the width that its author chose, and scaled
 * to the video. A broadcast counts as shown once the graphic is visible.
 */
export function Content({ content, overlay: { broadcastId }, still, leaving, onShown }: SlotContentProps<"ograf">) {
  const { session } = useSdkContext();
  const { t } = useTexts();
  const frame = useRef<HTMLIFrameElement>(null);
  const player = useRef<GraphicPlayer | null>(null);
  const shown = useRef({ broadcastId: "", text: "" });
  const latest = useRef({ broadcastId, content, still, onShown });
  const [failed, setFailed] = useState(false);
  const { graphic, width } = content;

  useLayoutEffect(() => {
    latest.current = { broadcastId, content, still, onShown };
  });

  useScale(frame, width);
  useFocusGuard(frame, () => setFailed(true));

  useEffect(() => {
    let warnings = 0;
    function listen({ source, data }: MessageEvent<unknown>): void {
      const done = source !== null && source === frame.current?.contentWindow ? doneMessage(data) : undefined;
      if (!done) return;
      if (done.statusCode >= 400 && warnings++ < MAX_WARNINGS)
        console.warn(`Tifo: the graphic returned ${done.statusCode}`, done.statusMessage);
      if (done.number >= (player.current?.playedBy ?? Infinity)) report(shown, latest.current, done.text);
    }
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, []);

  useEffect(() => {
    const isCalled = player.current?.show({ broadcastId, data: content.data, actions: content.actions }, latest.current.still);
    // A broadcast that changes nothing is what the graphic shows already.
    if (isCalled === false && shown.current.broadcastId !== "") report(shown, latest.current, shown.current.text);
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
      src={`${session.origin}/overlay/v1/graphics/${graphic}/frame`}
      sandbox="allow-scripts"
      onLoad={loaded}
    />
  );
}

interface Shown {
  broadcastId: string;
  text: string;
}

/** Reports the latest broadcast with the graphic's text, once. */
function report(
  shown: { current: Shown },
  { broadcastId, onShown }: { broadcastId: string; onShown: (text: string) => void },
  text: string,
) {
  if (shown.current.broadcastId === broadcastId) return;
  shown.current = { broadcastId, text };
  onShown(text);
}

/**
 * A script of another origin can take the focus, and with it what the viewer types, even in an inert frame. No graphic has a reason to: its
 * frame is removed, and what had the focus gets it back.
 */
function useFocusGuard(frame: { current: HTMLIFrameElement | null }, onTaken: () => void): void {
  const taken = useRef(onTaken);
  useEffect(() => {
    let last: HTMLElement | null = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    function remember({ target }: FocusEvent): void {
      if (target instanceof HTMLElement && target !== frame.current) last = target;
    }
    function check(): void {
      const root = frame.current?.getRootNode();
      if (!(root instanceof Document || root instanceof ShadowRoot) || root.activeElement !== frame.current) return;
      frame.current?.blur();
      last?.focus({ preventScroll: true });
      taken.current();
    }
    addEventListener("focusin", remember);
    addEventListener("blur", check);
    return () => {
      removeEventListener("focusin", remember);
      removeEventListener("blur", check);
    };
  }, [frame]);
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
