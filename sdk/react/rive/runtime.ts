import { Fit, Layout, Rive, RuntimeLoader } from "@rive-app/canvas-lite";

export interface PlayOptions {
  /** False: one still picture. */
  moves: boolean;
  onShown: () => void;
  /** The file can't be had or is no animation. */
  onFailed: (reason: unknown) => void;
}

/** Names the deployment's own copy of rive's WebAssembly, the only one: the runtime would fetch it, or another if that fails, from foreign hosts. */
export function useWasm(url: string): void {
  RuntimeLoader.setWasmUrl(url);
  RuntimeLoader.setWasmFallbackUrl(null);
}

/** Draws an animation until the function that it answers is called. */
export function play(canvas: HTMLCanvasElement, src: string, { moves, onShown, onFailed }: PlayOptions): () => void {
  const rive = new Rive({
    canvas,
    src,
    autoplay: moves,
    layout: new Layout({ fit: Fit.Contain }),
    onLoad: () => {
      rive.resizeDrawingSurfaceToCanvas();
      onShown();
    },
    onLoadError: ({ data }) => onFailed(data),
  });
  return () => rive.cleanup();
}
