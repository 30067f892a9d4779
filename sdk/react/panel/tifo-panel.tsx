import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import type { PanelInfo } from "../../model/state.ts";
import { useEventState, useSettings, useSurroundings } from "../context.tsx";
import { PanelContent } from "./content.tsx";
import { Note } from "./parts.tsx";

/** The event's sidebar with a tab for each panel, or one panel alone. */
export function TifoPanel({ panelId }: { panelId?: string | undefined }) {
  const { panels, openPanelId, title } = useEventState();
  const { session } = useSurroundings();
  const { textScale, reducedMotion } = useSettings();
  const shown = panelId === undefined ? panels : panels.filter(({ id }) => id === panelId);
  const current = shown.find(({ id }) => id === openPanelId) ?? shown[0];
  return (
    <section
      className="tifo tifo-panel"
      aria-label={title === "" ? "Event" : title}
      data-mode={session.mode}
      data-still={reducedMotion}
      style={{ "--tifo-text-scale": textScale }}
    >
      {current ? <Tabs panels={shown} current={current} /> : <Note>This event has no panels.</Note>}
    </section>
  );
}

function Tabs({ panels, current }: { panels: readonly PanelInfo[]; current: PanelInfo }) {
  const { event } = useSurroundings();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useImpression(current);

  /** Arrow keys move between tabs, as the tab pattern of WAI-ARIA asks for. */
  function move({ key }: KeyboardEvent): void {
    const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    const next = panels[panels.indexOf(current) + step];
    if (step === 0 || !next) return;
    event.openPanel(next.id);
    list.current?.querySelector<HTMLElement>(`[data-panel="${next.id}"]`)?.focus();
  }

  return (
    <>
      {panels.length > 1 && (
        <div className="tifo-tabs" role="tablist" aria-label="Panels" ref={list} onKeyDown={move}>
          {panels.map((panel) => (
            <button
              key={panel.id}
              type="button"
              role="tab"
              id={`${id}-${panel.id}`}
              aria-selected={panel === current}
              aria-controls={`${id}-content`}
              tabIndex={panel === current ? 0 : -1}
              data-panel={panel.id}
              onClick={() => event.openPanel(panel.id)}
            >
              {panel.name}
            </button>
          ))}
        </div>
      )}
      <div
        className="tifo-panel-content"
        id={`${id}-content`}
        role={panels.length > 1 ? "tabpanel" : "group"}
        aria-labelledby={panels.length > 1 ? `${id}-${current.id}` : undefined}
        aria-label={panels.length > 1 ? undefined : current.name}
        tabIndex={0}
      >
        <h2 className="tifo-panel-title">{current.name}</h2>
        <PanelContent key={current.id} panel={current} />
      </div>
    </>
  );
}

function useImpression({ id }: PanelInfo): void {
  const { session } = useSurroundings();
  useEffect(() => session.delegate.tell((host) => host.trackImpression?.({ kind: "panel", id })), [session, id]);
}
