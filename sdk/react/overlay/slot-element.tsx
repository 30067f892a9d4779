import type { OverlayContent } from "../../channel/index.ts";
import { useSdkContext } from "../context.tsx";
import { LazyGraphic, LazyKit } from "./lazy-element.tsx";
import { RiveCanvas } from "./rive-canvas.tsx";
import type { Kind, SlotContentProps } from "./slot-content.ts";

/** An element, except html, whose frame outlives it. */
export function SlotElement({ content, ...props }: Omit<SlotContentProps<Kind>, "content"> & { content: OverlayContent }) {
  const { session } = useSdkContext();
  const { still, onShown, overlay } = props;
  switch (content.kind) {
    case "html":
      return null;
    case "rive":
      return <RiveCanvas key={overlay.broadcastId} origin={session.origin} content={content} reducedMotion={still} onShown={onShown} />;
    case "ograf":
      return <LazyGraphic content={content} {...props} />;
    case "kit":
      return <LazyKit content={content} {...props} />;
  }
}
