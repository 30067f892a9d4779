import { Fit, Layout, Rive, RuntimeLoader } from "@rive-app/canvas-lite";

export interface PlayOptions {
  /** False: a still image. */
  animated: boolean;
  onShown: () => void;
  /** The file can't be loaded or isn't an animation. */
  onFailed: (reason: unknown) => void;
}

/** Uses only the deployment's copy of Rive's WebAssembly. By default, the runtime would fetch it from third-party hosts. */
export function useWasm(url: string): void {
  RuntimeLoader.setWasmUrl(url);
  RuntimeLoader.setWasmFallbackUrl(null);
}

/** Plays an animation until the returned function is called. */
export function play(canvas: HTMLCanvasElement, src: string, { animated, onShown, onFailed }: PlayOptions): () => void {
  const rive = new Rive({
    canvas,
    src,
    autoplay: animated,
    layout: new Layout({ fit: Fit.Contain }),
    onLoad: () => {
      rive.resizeDrawingSurfaceToCanvas();
      onShown();
    },
    onLoadError: ({ data }) => onFailed(data),
  });
  return () => rive.cleanup();
}
