// The page of `kit-pictures.ts`: stages of several sizes below each other, each with elements of the kit over a picture of a match.
import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { flushSync } from "react-dom";
import { ENGLISH_TEXTS } from "#sdk/i18n/texts.ts";
import type { KitElement, PollAccess } from "#sdk/overlay/kit/piece.ts";
import { renderPiece } from "#sdk/overlay/kit/render-piece.ts";
import { Stage } from "#sdk/overlay/stage/stage.ts";
import { Boundary } from "#sdk/react/overlay/boundary.tsx";

export interface Picture {
  width: number;
  height: number;
  look: "light" | "dark";
  elements: KitElement[];
  poll: Omit<PollAccess, "answer">;
}

declare global {
  interface Window {
    draw: (pictures: Picture[]) => void;
  }
}

/** Some minutes before the end of the countdown's sample. */
const NOW = 1_795_170_000_000 - 754_000;

function StagePicture({ width, height, look, elements, poll }: Picture) {
  const [stage, setStage] = useState<Stage | null>(null);
  const root = useCallback((element: HTMLDivElement) => {
    const created = new Stage(element);
    setStage(created);
    return () => created.close();
  }, []);
  return (
    <div className="backdrop" style={{ width, height }}>
      <div ref={root} className="tifo tifo-overlays" data-mode={look} data-still="true" dir="ltr">
        {elements.map((element, index) => (
          <Placed key={index} {...{ stage, element, look, poll }} order={index} />
        ))}
      </div>
    </div>
  );
}

function Placed({
  stage,
  element,
  order,
  look,
  poll,
}: Pick<Picture, "look" | "poll"> & { stage: Stage | null; element: KitElement; order: number }) {
  const box = useRef<HTMLDivElement>(null);
  const { position } = element;
  useLayoutEffect(() => {
    if (stage && box.current) stage.place(box.current, { position, priority: 0, order, leaving: false });
  }, [stage, position, order]);
  const common = { startsAt: NOW, now: () => NOW, address: (url: string) => url, onDismiss: () => {}, t: ENGLISH_TEXTS.t };
  return (
    <div ref={box} className="tifo-overlay" data-kind="kit" data-position={position}>
      <Boundary attempt="" onFailure={() => {}}>
        <div className="tifo-kit" data-look={look}>
          {renderPiece("", element, { ...common, poll: { ...poll, answer: () => {} } })}
        </div>
      </Boundary>
    </div>
  );
}

const root = createRoot(document.body);
window.draw = (pictures) =>
  flushSync(() => root.render(pictures.map((picture, index) => <StagePicture key={`${index}-${Math.random()}`} {...picture} />)));
