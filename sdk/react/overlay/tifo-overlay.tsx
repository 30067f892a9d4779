import { memo, useCallback, useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import type { OverlayContent } from "../../channel/index.ts";
import { createStore, type Store } from "../../core/store.ts";
import type { OverlayOptions, SafeArea } from "../../model/core.ts";
import { Stage } from "../../overlay/stage/stage.ts";
import { useEventState, useSettings, useSdkContext } from "../context.tsx";
import { useThemeAttributes } from "../theme-attributes.ts";
import { Slot } from "./slot.tsx";
import { slotOf } from "./slot-content.ts";

// In reading order, which is also the tab order of their buttons.
const POSITIONS: readonly OverlayContent["position"][] = [
  ...(["topLeft", "topCenter", "topRight"] as const),
  ...(["centerLeft", "center", "centerRight"] as const),
  ...(["bottomLeft", "bottomCenter", "bottomRight"] as const),
];

/** The active overlays, each placed on a stage over the player; only their buttons receive clicks. */
export function TifoOverlay({ safeArea }: Pick<OverlayOptions, "safeArea">) {
  const { event } = useSdkContext();
  const { overlays: enabled } = useSettings();
  const look = useThemeAttributes();
  const [stage, setStage] = useState<Stage | null>(null);
  const edges = edgesOf(safeArea);
  useEffect(() => (enabled ? event.attachRenderer() : undefined), [event, enabled]);
  useLayoutEffect(() => stage?.setSafeArea(edges), [stage, edges?.top, edges?.right, edges?.bottom, edges?.left]);

  const root = useCallback((element: HTMLDivElement) => {
    const created = new Stage(element);
    setStage(created);
    return () => created.close();
  }, []);

  if (!enabled) return null;
  return (
    <div ref={root} className="tifo tifo-overlays" {...look} dir="ltr">
      <OverlaySlots stage={stage} mode={look["data-mode"]} />
    </div>
  );
}

interface SlotsProps {
  /** Null until the element is in the page. */
  stage: Stage | null;
  mode: "light" | "dark";
}

/** The part that renders again with every overlay. */
function OverlaySlots(props: SlotsProps) {
  const overlays = useEventState((state) => state.overlays);
  const [latestText] = useState(() => createStore(""));
  const at = new Map(overlays.flatMap(({ overlay }) => overlay.contents.map((content) => [slotOf(content), overlay])));
  // Slots of elements that are updated in place, in order of appearance: moving one in the page would restart its animation.
  const [own, setOwn] = useState<readonly string[]>([]);
  const added = [...at.keys()].filter((name) => !isPosition(name) && !own.includes(name));
  if (added.length > 0) setOwn([...own, ...added]);
  const onEmpty = useCallback((name: string) => {
    if (!isPosition(name)) setOwn((names) => names.filter((one) => one !== name));
  }, []);
  return (
    <>
      {[...POSITIONS, ...own].map((name) => (
        <Slot key={name} name={name} overlay={at.get(name)} latestText={latestText} onEmpty={onEmpty} {...props} />
      ))}
      <LiveRegion latestText={latestText} />
    </>
  );
}

function isPosition(name: string): boolean {
  return POSITIONS.some((position) => position === name);
}

/** The text of the latest overlay, for screen readers. */
const LiveRegion = memo(function LiveRegion({ latestText }: { latestText: Store<string> }) {
  const anyShown = useEventState(({ overlays }) => overlays.length > 0);
  const text = useSyncExternalStore(latestText.subscribe, latestText.getSnapshot, latestText.getSnapshot);
  // Otherwise the next overlay would first announce the previous one's text again.
  useEffect(() => {
    if (!anyShown) latestText.update(() => "");
  }, [anyShown, latestText]);
  return (
    <p className="tifo-only-read" role="status">
      {anyShown ? text : ""}
    </p>
  );
});

function edgesOf(area: SafeArea | undefined): Exclude<SafeArea, number> | undefined {
  return typeof area === "number" ? { top: area, right: area, bottom: area, left: area } : area;
}
