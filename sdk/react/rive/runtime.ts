import { Fit, Layout, Rive, RuntimeLoader } from "@rive-app/canvas-lite";

export interface PlayOptions {
  /** False: one still picture. */
  moves: boolean;
  onShown: () => void;
}

/** Names the deployment's own copy of rive's WebAssembly; the runtime would fetch it from a foreign host. */
export function useWasm(url: string): void {
  RuntimeLoader.setWasmUrl(url);
}

/** Draws an animation until the function that it answers is called. */
export function play(canvas: HTMLCanvasElement, src: string, { moves, onShown }: PlayOptions): () => void {
  const rive = new Rive({
    canvas,
    src,
    autoplay: moves,
    layout: new Layout({ fit: Fit.Contain }),
    onLoad: () => {
      rive.resizeDrawingSurfaceToCanvas();
      onShown();
    },
  });
  return () => rive.cleanup();
}
