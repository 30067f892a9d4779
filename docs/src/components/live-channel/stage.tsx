import { onStage } from "./channel-view.ts";
import type { Position } from "./channel-view.ts";
import { OverlayFrame } from "./overlay-frame.tsx";
import type { OverlayShow } from "../../../../worker/durable-objects/relay.protocol.ts";

interface Props {
  overlays: OverlayShow[];
  onShown: (broadcastId: string) => void;
}

/** The picture with its nine places for overlays, and their words for those who can't see it. */
export function Stage({ overlays, onShown }: Props) {
  const places = [...onStage(overlays)];
  return (
    <div className="stage">
      <div className="pitch" aria-hidden="true" />
      {places.map(([position, { overlay, content }]) => (
        <div key={`${overlay.broadcastId} ${position}`} className="place" data-row={rowOf(position)} data-broadcast={overlay.broadcastId}>
          {content.kind === "html" ? (
            <OverlayFrame html={content.html} position={position} onShown={() => onShown(overlay.broadcastId)} />
          ) : (
            <p className="rive">Rive animation {content.fileName}</p>
          )}
          <CallToAction cta={overlay.cta} />
        </div>
      ))}
      <p className="sr-only" aria-live="polite">
        {places.map(([, { content }]) => (content.kind === "html" ? wordsOf(content.html) : content.fileName)).join(". ")}
      </p>
    </div>
  );
}

function rowOf(position: Position): string {
  return /^(top|center|bottom)/.exec(position)?.[0] ?? "center";
}

/** The text of an overlay. A parsed document that isn't shown runs and loads nothing. */
function wordsOf(html: string): string {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const unseen of body.querySelectorAll("script, style")) unseen.remove();
  return (body.textContent ?? "").replaceAll(/\s+/g, " ").trim();
}

/** Opens the link of a call to action; the other kinds belong to an app that has players, panels and people. */
function CallToAction({ cta }: { cta: OverlayShow["cta"] }) {
  const url = cta?.type === "open_link" ? webAddress(cta.data["url"]) : undefined;
  if (url === undefined) return null;
  const label = cta?.data["label"];
  return (
    <a className="call-to-action" href={url} target="_blank" rel="noopener noreferrer">
      {typeof label === "string" ? label : "Open link"}
    </a>
  );
}

function webAddress(value: unknown): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined;
  const { href, protocol } = new URL(value);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}
