import type { OverlayRow } from "#db/schema/overlays.ts";
import type { OverlayContent } from "#db/types.ts";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { type Failure, invalid } from "#worker/lib/errors.ts";
import { renderVariables } from "#worker/lib/handlebars/template.ts";
import { shownGraphic } from "#worker/services/graphics/elements.ts";
import { plainVariables, shownElement } from "./kit/variables.ts";
import { withRiveUrls } from "./overlays.ts";
import type { BroadcastInput } from "./schemas.ts";

/** The maximum size of a broadcast as JSON, in UTF-8 bytes: it is sent to every viewer and stored in the log. */
export const MAX_BROADCAST = 131_072;

/** The content of a broadcast, whether a request or a rule sends it. */
export type BroadcastContent = Pick<BroadcastInput, "duration" | "variables" | "timecode" | "priority" | "actions" | "broadcastPayload"> & {
  tags?: string[] | undefined;
  /** The slug of a segment. */
  userSegment?: string | undefined;
  /** It shows what a viewer wrote, or a viewer's name. */
  personal?: true | undefined;
};

/** Builds the broadcast of an overlay that starts at `startsAt` (ms). Throws if its variables make it too large. */
export function buildBroadcast(broadcastId: string, startsAt: number, overlay: OverlayRow, input: BroadcastContent): Broadcast {
  const [first] = overlay.contents;
  const variables = { ...ownVariables(first), ...input.variables };
  const broadcast: Broadcast = {
    broadcastId,
    overlayId: overlay.id,
    startsAt,
    endsAt: startsAt + (input.duration ?? overlay.duration) * 1000,
    position: first?.position ?? "center",
    contents: withRiveUrls(overlay.contents).map((content) => shownContent(overlay.id, content, input)),
    cta: overlay.cta,
    variables,
    priority: input.priority,
    timecode: input.timecode,
    segment: input.tags && { tags: input.tags },
    userSegment: input.userSegment,
    personal: input.personal,
    broadcastPayload: input.broadcastPayload,
  };
  if (new TextEncoder().encode(JSON.stringify(broadcast)).byteLength > MAX_BROADCAST) throw tooLarge();
  return broadcast;
}

/** The variables of the first element that a viewer's app may want to know. */
function ownVariables(first: OverlayContent | undefined): Broadcast["variables"] {
  if (first?.kind === "ograf") return {};
  return (first?.kind === "kit" ? plainVariables(first) : first?.variables) ?? {};
}

function shownContent(
  overlayId: string,
  content: OverlayContent,
  { variables: given = {}, actions = [] }: BroadcastContent,
): Broadcast["contents"][number] {
  const { position } = content;
  switch (content.kind) {
    case "html":
      return { kind: content.kind, html: render(content.html, { ...content.variables, ...given }), position };
    case "rive":
      return { kind: content.kind, mediaId: content.mediaId, fileName: content.fileName, url: content.url, position };
    case "kit":
      return shownElement(content, given, overlayId);
    case "ograf":
      return shownGraphic(content, given, actions, overlayId);
  }
}

function render(html: string, variables: Broadcast["variables"]): string {
  const rendered = renderVariables(html, variables, MAX_BROADCAST);
  if (rendered === null) throw tooLarge();
  return rendered;
}

function tooLarge(): Failure {
  return invalid("variables", "With its variables filled in, the broadcast is larger than 128 kB");
}
