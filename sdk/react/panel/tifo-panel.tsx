import { type HTMLAttributes, type KeyboardEvent, memo, useEffect, useId, useRef, useState } from "react";
import type { PanelInfo } from "../../model/state.ts";
import { useEventState, useSdkContext, useTexts } from "../context.tsx";
import { useThemeAttributes } from "../theme-attributes.ts";
import { ChatPanel } from "../lazy-panel.tsx";
import { Polls } from "./polls.tsx";
import { PanelContent } from "./content.tsx";
import { Note, SiteImage } from "./parts.tsx";

/** The channel's chat alone, which needs no panel. */
export function TifoChat() {
  const { t } = useTexts();
  const look = useThemeAttributes();
  return (
    <section className="tifo tifo-panel" aria-label={t("Chat")} {...look}>
      <div className="tifo-panel-content" data-kind="chat">
        <ChatPanel />
      </div>
    </section>
  );
}

/** A poll that hasn't been read by then doesn't exist, as far as the viewer can tell. */
const POLL_WAIT_MS = 5_000;

/** One poll, prediction or trivia question, which no panel has to contain. */
export function TifoPoll({ pollId }: { pollId: string }) {
  const { t } = useTexts();
  const { event } = useSdkContext();
  const look = useThemeAttributes();
  const isKnown = useEventState(({ polls }) => polls[pollId] !== undefined);
  const [waits, setWaits] = useState(true);
  useEffect(() => {
    event.followPoll(pollId);
    const timer = setTimeout(() => setWaits(false), POLL_WAIT_MS);
    return () => clearTimeout(timer);
  }, [event, pollId]);
  return (
    <section className="tifo tifo-panel" aria-label={t("Poll")} {...look}>
      <div className="tifo-panel-content">{isKnown || !waits ? <Polls pollIds={[pollId]} /> : <Note>{t("Loading…")}</Note>}</div>
    </section>
  );
}

/** The event's sidebar with a tab for each panel, or a single panel. */
export function TifoPanel({ panelId }: { panelId?: string | undefined }) {
  const { t } = useTexts();
  const panels = useEventState((state) => state.panels);
  const openPanelId = useEventState((state) => state.openPanelId);
  const title = useEventState((state) => state.title);
  const look = useThemeAttributes();
  const single = panels.find(({ id }) => id === panelId);
  return (
    <section className="tifo tifo-panel" aria-label={title === "" ? t("Event") : title} {...look}>
      {panelId === undefined ? (
        <Sidebar panels={panels} open={panels.find(({ id }) => id === openPanelId)} />
      ) : single ? (
        <Content panel={single} role="group" aria-label={single.name} />
      ) : (
        <Note>{t("This event has no such panel.")}</Note>
      )}
    </section>
  );
}

function Sidebar({ panels, open }: { panels: readonly PanelInfo[]; open: PanelInfo | undefined }) {
  const { t, dir } = useTexts();
  const { event } = useSdkContext();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const openId = open?.id;
  useEffect(() => {
    tabOf(list.current, openId)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [openId]);
  if (panels.length === 0) return <Note>{t("This event has no panels.")}</Note>;

  /** Arrow keys move between tabs, as in the WAI-ARIA tabs pattern. */
  function move({ key }: KeyboardEvent): void {
    const forward = dir === "rtl" ? "ArrowLeft" : "ArrowRight";
    const backward = dir === "rtl" ? "ArrowRight" : "ArrowLeft";
    const step = key === forward ? 1 : key === backward ? -1 : 0;
    const next = open && panels[panels.indexOf(open) + step];
    if (step === 0 || !next) return;
    event.openPanel(next.id);
    tabOf(list.current, next.id)?.focus();
  }

  return (
    <>
      <div className="tifo-tabs" role="tablist" aria-label={t("Panels")} ref={list} onKeyDown={move}>
        {panels.map((panel) => (
          <button
            key={panel.id}
            type="button"
            role="tab"
            id={`${id}-${panel.id}`}
            aria-selected={panel === open}
            aria-controls={panel === open ? `${id}-content` : undefined}
            tabIndex={panel === (open ?? panels[0]) ? 0 : -1}
            data-panel={panel.id}
            onClick={() => event.openPanel(panel.id)}
          >
            <SiteImage src={panel.iconUrl} />
            <bdi>{panel.name}</bdi>
          </button>
        ))}
      </div>
      {open && <Content panel={open} id={`${id}-content`} role="tabpanel" aria-labelledby={`${id}-${open.id}`} />}
    </>
  );
}

function tabOf(list: HTMLElement | null, panelId: string | undefined): HTMLElement | null | undefined {
  return list?.querySelector<HTMLElement>(`[data-panel="${panelId ?? ""}"]`);
}

type ContentProps = { panel: PanelInfo } & Pick<HTMLAttributes<HTMLDivElement>, "id" | "role" | "aria-label" | "aria-labelledby">;

const Content = memo(function Content({ panel, ...attributes }: ContentProps) {
  useImpression(panel);
  return (
    <div className="tifo-panel-content" tabIndex={0} data-kind={panel.kind} {...attributes}>
      <h2 className="tifo-panel-title">
        <bdi>{panel.name}</bdi>
      </h2>
      <PanelContent key={panel.id} panel={panel} />
    </div>
  );
});

function useImpression({ id }: PanelInfo): void {
  const { event } = useSdkContext();
  useEffect(() => event.trackImpression({ kind: "panel", id }), [event, id]);
}
