import { type ComponentType, lazy } from "react";
import { useSdkContext } from "../context.tsx";
import { loadReleaseFile } from "../release-file.ts";
import { Boundary } from "./boundary.tsx";
import type { SlotContentProps } from "./slot-content.ts";

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs: whether this is the script for plain pages. */
declare const TIFO_SCRIPT: boolean;

type Kit = ComponentType<SlotContentProps<"kit">>;

const importKit = typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT ? null : () => import("../../overlay/kit/kit-overlay.tsx");
const loaded = new Map<string, Kit>();

/** A template of the kit. The kit is loaded with the first one. */
export function LazyKit(props: SlotContentProps<"kit">) {
  const Kit = kitOf(useSdkContext().session.origin);
  return (
    <Boundary attempt={props.overlay.broadcastId} onFailure={() => loaded.clear()}>
      <Kit {...props} />
    </Boundary>
  );
}

function kitOf(origin: string): Kit {
  const known = loaded.get(origin);
  if (known) return known;
  const kit = lazy(async () => {
    const { KitOverlay } = await (importKit ? importKit() : loadReleaseFile<{ KitOverlay: Kit }>(origin, "kit"));
    return { default: KitOverlay };
  });
  loaded.set(origin, kit);
  return kit;
}
