import { useEffect, useRef } from "react";
import type { OverlayContent } from "../../channel/index.ts";
import { loadRive } from "../rive/load.ts";

interface Props {
  origin: string;
  content: Extract<OverlayContent, { kind: "rive" }>;
  /** Shows one still picture. */
  reducedMotion: boolean;
  onShown: (text: string) => void;
}

/** A rive animation, drawn by rive's own runtime, which is loaded when the first one comes. */
export function RiveCanvas({ origin, content, reducedMotion, onShown }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { url, mediaId, fileName } = content;

  useEffect(() => {
    let end = () => {};
    let gone = false;
    void loadRive(origin)
      .then(({ play }) => {
        if (gone || !canvas.current) return;
        end = play(canvas.current, new URL(url ?? `/media/v1/${mediaId}`, origin).href, {
          moves: !reducedMotion,
          onShown: () => onShown(fileName),
          onFailed: report,
        });
      })
      .catch(report);
    return () => {
      gone = true;
      end();
    };
  }, [origin, url, mediaId, fileName, reducedMotion, onShown]);

  return <canvas ref={canvas} className="tifo-overlay-rive" role="img" aria-label={fileName} />;
}

function report(reason: unknown): void {
  console.warn("Tifo: the animation could not be shown", reason);
}
