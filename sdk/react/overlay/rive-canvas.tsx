import { useEffect, useRef } from "react";
import type { OverlayContent } from "../../channel/index.ts";
import { loadRive } from "../rive/load.ts";

interface Props {
  origin: string;
  content: Extract<OverlayContent, { kind: "rive" }>;
  /** Shows a still image. */
  reducedMotion: boolean;
  onShown: (text: string) => void;
}

/** A Rive animation, rendered by Rive's own runtime, which is loaded with the first animation. */
export function RiveCanvas({ origin, content, reducedMotion, onShown }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { url, mediaId, fileName } = content;

  useEffect(() => {
    let stop = () => {};
    let unmounted = false;
    void loadRive(origin)
      .then(({ play }) => {
        if (unmounted || !canvas.current) return;
        stop = play(canvas.current, new URL(url ?? `/media/v1/${mediaId}`, origin).href, {
          animated: !reducedMotion,
          onShown: () => onShown(fileName),
          onFailed: report,
        });
      })
      .catch(report);
    return () => {
      unmounted = true;
      stop();
    };
  }, [origin, url, mediaId, fileName, reducedMotion, onShown]);

  return <canvas ref={canvas} className="tifo-overlay-rive" role="img" aria-label={fileName} />;
}

function report(reason: unknown): void {
  console.warn("Tifo: the animation could not be shown", reason);
}
