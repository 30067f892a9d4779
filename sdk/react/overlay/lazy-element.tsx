import { useSdkContext } from "../context.tsx";
import { lazyFile, type ModuleLoader } from "../lazy-file.ts";
import { Boundary } from "./boundary.tsx";
import type { Kind, SlotContentProps } from "./slot-content.ts";

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs: whether this is the script for plain pages. */
declare const TIFO_SCRIPT: boolean;

const importKit = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("../../overlay/kit/kit-overlay.tsx");
const importGraphic = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("../../overlay/graphic/graphic-overlay.tsx");

/** A template of the kit. The kit is loaded with the first one. */
export const LazyKit = lazyElement<"kit">("kit", importKit);
/** An OGraf graphic. What shows graphics is loaded with the first one. */
export const LazyGraphic = lazyElement<"ograf">("graphic", importGraphic);

function lazyElement<K extends Kind>(file: string, load: ModuleLoader<SlotContentProps<K>>) {
  const code = lazyFile(file, load);
  return function LazyElement(props: SlotContentProps<K>) {
    const Element = code.of(useSdkContext().session.origin);
    return (
      <Boundary attempt={props.overlay.broadcastId} onFailure={code.forget}>
        <Element {...props} />
      </Boundary>
    );
  };
}
