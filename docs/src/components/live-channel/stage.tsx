import { useCallback, useState } from "react";
import { onStage } from "./channel-view.ts";
import type { OverlayShow } from "../../../../sdk/channel/index.ts";
import { HtmlFrame } from "../../../../sdk/react/overlay/html-frame.tsx";

interface Props {
  overlays: OverlayShow[];
  onShown: (broadcastId: string) => void;
}

/** The picture with its nine places for overlays, and their words for those who can't see it. */
export function Stage({ overlays, onShown }: Props) {
  const [words, setWords] = useState("");
  const say = useCallback(
    (broadcastId: string, text: string) => {
      setWords(text);
      onShown(broadcastId);
    },
    [onShown],
  );
  return (
    <div className="stage">
      <div className="pitch" aria-hidden="true" />
      {[...onStage(overlays)].map(([position, { overlay, content }]) => (
        <Place key={`${overlay.broadcastId} ${position}`} overlay={overlay} content={content} say={say} />
      ))}
      <p className="sr-only" aria-live="polite">
        {overlays.length > 0 && words}
      </p>
    </div>
  );
}

interface PlaceProps {
  overlay: OverlayShow;
  content: OverlayShow["contents"][number];
  say: (broadcastId: string, text: string) => void;
}

function Place({ overlay: { broadcastId, cta }, content, say }: PlaceProps) {
  const onShown = useCallback((text: string) => say(broadcastId, text), [say, broadcastId]);
  return (
    <div className="place" data-position={content.position} data-broadcast={broadcastId}>
      {content.kind === "html" ? (
        <HtmlFrame origin={location.origin} html={content.html} position={content.position} onShown={onShown} />
      ) : (
        <p className="rive">Rive animation {content.fileName}</p>
      )}
      <CallToAction cta={cta} />
    </div>
  );
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
