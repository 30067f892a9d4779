import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { OverlayContent, OverlayShow } from "../../channel/index.ts";
import type { Store } from "../../core/store.ts";
import type { Stage } from "../../overlay/stage/stage.ts";
import { useEventState, useSdkContext, useSettings, useTexts } from "../context.tsx";
import { CallToActionButton } from "./call-to-action.tsx";
import { HtmlFrame } from "./html-frame.tsx";
import { GRAPHIC_EXIT_MS, slotOf } from "./slot-content.ts";
import { SlotElement } from "./slot-element.tsx";

type Overlay = Readonly<OverlayShow>;

/** The style sheet's own transitions. */
const ENTER = { name: undefined, duration: 240 };
const EXIT = { name: undefined, duration: 160 };
/** The exit of the kit's templates. */
const KIT_EXIT_MS = 260;

interface Props {
  name: string;
  overlay: Overlay | undefined;
  /** Null until the stage is in the page. */
  stage: Stage | null;
  mode: "light" | "dark";
  latestText: Store<string>;
  /** Called when nothing is shown in it any more. */
  onEmpty: (name: string) => void;
}

/** A slot of the stage: an element of an overlay, which the next one replaces or updates. */
export const Slot = memo(function Slot({ name, overlay, stage, mode, latestText, onEmpty }: Props) {
  const { session } = useSdkContext();
  const { reducedMotion } = useSettings();
  const { enter = ENTER, exit = EXIT } = useEventState((state) => state.transitions) ?? {};
  const visible = useLeaving(overlay, reducedMotion || exit.name === "none" ? 0 : exit.duration);
  const content = visible?.contents.find((one) => slotOf(one) === name);
  const html = content?.kind === "html" ? content.html : null;
  // Its frame is kept for the next overlay with html.
  const [framed, setFramed] = useState(false);
  if (html !== null && !framed) setFramed(true);

  const isEmpty = !visible && !framed;
  useEffect(() => {
    if (isEmpty) onEmpty(name);
  }, [isEmpty, name, onEmpty]);

  // A graphic covers the whole stage, so it has no place of its own.
  const covers = content?.kind === "ograf";
  const element = usePlace(stage, covers ? undefined : content, visible, overlay === undefined);
  const onShown = useShown(stage, element, visible, content, latestText);
  if (isEmpty) return null;
  return (
    <div
      ref={element}
      className={covers ? "tifo-graphic" : classOf(overlay, visible)}
      data-position={content?.position}
      data-kind={content?.kind}
      data-broadcast={visible?.broadcastId}
      data-enter={enter.name}
      data-exit={exit.name}
      style={{ "--tifo-enter": `${enter.duration}ms`, "--tifo-exit": `${exit.duration}ms` }}
    >
      {framed && (
        <HtmlFrame
          origin={session.origin}
          id={visible?.broadcastId}
          html={html}
          position={content?.position ?? "center"}
          onShown={onShown}
        />
      )}
      {content && visible && (
        <SlotElement
          content={content}
          overlay={visible}
          mode={mode}
          still={reducedMotion}
          leaving={overlay === undefined}
          onShown={onShown}
        />
      )}
      {overlay && content === overlay.contents[0] && <Buttons key={`buttons of ${overlay.broadcastId}`} overlay={overlay} />}
    </div>
  );
});

/** Places the slot's element on the stage while an overlay is in it. */
function usePlace(stage: Stage | null, content: OverlayContent | undefined, overlay: Overlay | undefined, leaving: boolean) {
  const element = useRef<HTMLDivElement>(null);
  const position = content?.position;
  const { priority = 0, seq: order = 0 } = overlay ?? {};
  useLayoutEffect(() => {
    if (stage && position !== undefined && element.current) stage.place(element.current, { position, priority, order, leaving });
  }, [stage, position, priority, order, leaving]);
  const occupied = position !== undefined;
  useLayoutEffect(() => {
    const placed = element.current;
    return () => {
      if (placed) stage?.remove(placed);
    };
  }, [stage, occupied]);
  return element;
}

/** Announces and reports an element when it is rendered and the stage shows it: one that waits for a place wasn't seen. */
function useShown(
  stage: Stage | null,
  element: { readonly current: HTMLElement | null },
  visible: Overlay | undefined,
  content: OverlayContent | undefined,
  latestText: Store<string>,
): (text: string) => void {
  const { event } = useSdkContext();
  const { broadcastId, overlayId } = visible ?? {};
  const isPlaced = content?.kind !== "ograf";
  const pollId = content?.kind === "kit" && content.template === "poll" ? content.variables.pollId : undefined;
  return useCallback(
    (text: string) => {
      if (!stage || !element.current || overlayId === undefined || broadcastId === undefined) return;
      const report = () => {
        latestText.update(() => text);
        event.trackImpression({ kind: "overlay", id: overlayId, broadcastId });
        if (pollId !== undefined) event.trackImpression({ kind: "poll", id: pollId });
        event.overlayRendered(broadcastId);
      };
      if (isPlaced) stage.whenVisible(element.current, report);
      else report();
    },
    [stage, element, latestText, event, overlayId, broadcastId, pollId, isPlaced],
  );
}

function classOf(overlay: Overlay | undefined, visible: Overlay | undefined): string {
  if (overlay) return "tifo-overlay";
  return visible ? "tifo-overlay tifo-overlay-leaving" : "tifo-overlay-idle";
}

/** The overlay, or the previous one while it animates out for `duration` ms. */
function useLeaving(overlay: Overlay | undefined, duration: number): Overlay | undefined {
  const [last, setLast] = useState(overlay);
  if (overlay && overlay !== last) setLast(overlay);
  const isLeaving = !overlay && duration > 0 && last !== undefined;
  const isKit = last?.contents.some(({ kind }) => kind === "kit") ?? false;
  const isGraphic = last?.contents.some(({ kind }) => kind === "ograf") ?? false;
  const exit = isGraphic ? GRAPHIC_EXIT_MS : isKit ? Math.max(duration, KIT_EXIT_MS) : duration;

  useEffect(() => {
    if (!isLeaving) return;
    const timer = setTimeout(() => setLast(undefined), exit);
    return () => clearTimeout(timer);
  }, [isLeaving, exit]);

  return isLeaving ? last : overlay;
}

function Buttons({ overlay: { overlayId, broadcastId, contents, cta } }: { overlay: Overlay }) {
  const { t, dir } = useTexts();
  const { event } = useSdkContext();
  // The kit's templates have their own button.
  const isKit = contents[0]?.kind === "kit";
  if (isKit && !cta) return null;
  return (
    <div className="tifo-overlay-buttons" dir={dir}>
      {cta && <CallToActionButton call={cta} overlayId={overlayId} broadcastId={broadcastId} />}
      {!isKit && (
        <button type="button" className="tifo-dismiss" aria-label={t("Hide overlay")} onClick={() => event.dismissOverlay(broadcastId)}>
          ×
        </button>
      )}
    </div>
  );
}
