import type { OverlayShow } from "../channel/index.ts";
import { clipById, clipOf, type SiteVideo } from "./clips.ts";
import type { WatchedEvent } from "./event.ts";
import type { PanelFocus, PanelInfo, PanelRenderer } from "../model/state.ts";
import type { Session } from "./session.ts";
import { openLink, parsedUrl } from "./web-address.ts";
import { key } from "../i18n/key.ts";
import type { Translate } from "../i18n/texts.ts";

export type CallToAction = NonNullable<OverlayShow["cta"]>;

const LABELS: Record<CallToAction["type"], string> = {
  facebook_share: key("Share"),
  go_to_channel: key("Go to channel"),
  login: key("Sign in"),
  open_link: key("Open|link"),
  play_video: key("Play"),
  show_player_stats: key("Player stats"),
  show_group: key("About the team"),
  show_panel: key("Show|panel"),
  show_stored_panel: key("Show|panel"),
  show_person: key("About"),
  tweet: key("Post"),
};

/** The label of its button. */
export function labelOf({ type, data }: CallToAction, t: Translate): string {
  return data.label ?? t(LABELS[type]);
}

/** Whether it requires the host app's statistics service, or a panel with the match facts or the viewer's own points. */
export function needsStats({ type }: CallToAction): boolean {
  return type === "show_player_stats";
}

export async function hasStats({ delegate }: Session, panels: readonly PanelInfo[]): Promise<boolean> {
  return statsPanel(panels) !== undefined || (await delegate.call((host) => host.getStatsAPIBaseURL?.(), null)) !== null;
}

/** The first panel of people, which shows the player's facts, or else with the ranks of a leaderboard, which shows the viewer's own. */
function statsPanel(panels: readonly PanelInfo[]): PanelInfo | undefined {
  const people = panels.find(({ kind }) => kind === "peopleGroups");
  return people ?? panels.find(({ renderer }) => "leaderboard_id" in renderer && renderer.leaderboard_id !== undefined);
}

/** Tracks and performs an overlay's call to action. */
export async function handleCallToAction(call: CallToAction, element: EventTarget, event: WatchedEvent, session: Session): Promise<void> {
  session.delegate.track("overlay.cta", { type: call.type });
  try {
    await performCallToAction(call, element, event, session);
  } catch (error) {
    console.warn("Tifo: a call to action failed", error);
  }
}

/**
 * Performs a call to action. The host app can handle it instead: the element first dispatches a `tifo:cta` event with the call as `detail`,
 * and the app calls `preventDefault()`. Only the host app can handle `go_to_channel`, because only it knows the channel's URL.
 */
export async function performCallToAction(call: CallToAction, element: EventTarget, event: WatchedEvent, session: Session): Promise<void> {
  if (!element.dispatchEvent(new CustomEvent("tifo:cta", { detail: call, bubbles: true, composed: true, cancelable: true }))) return;
  switch (call.type) {
    case "open_link":
      return openLink(call.data.url);
    case "facebook_share":
      return openLink(withQuery("https://www.facebook.com/sharer/sharer.php", { u: call.data.url, quote: call.data.quote }));
    case "tweet":
      return openLink(withQuery("https://twitter.com/intent/tweet", { text: call.data.text, url: call.data.url }));
    case "login":
      return session.delegate.notify((host) => host.onPanelEvent?.({ type: "loginRequested" }));
    case "show_panel":
    case "show_stored_panel":
      event.openPanel(call.data.panelId);
      return;
    case "show_person":
      return showPeople({ kind: "person", id: call.data.personId }, event);
    case "show_group":
      return showPeople({ kind: "group", id: call.data.groupId }, event);
    case "play_video":
      return playById(call.data, event, session);
    case "show_player_stats":
      return showStats(call.data.playerId, event, session);
    case "go_to_channel":
      return;
  }
}

/** Plays a video of the site that has been loaded already. A failure is only logged. */
export async function playVideo(video: SiteVideo, event: WatchedEvent, session: Session): Promise<void> {
  try {
    const clip = await clipOf(video, event.channelId, session);
    if (clip) await event.playClip(clip);
  } catch (error) {
    console.warn("Tifo: a video could not be played", error);
  }
}

async function playById(
  { videoId, startTime }: { videoId: string; startTime?: number },
  event: WatchedEvent,
  session: Session,
): Promise<void> {
  const clip = await clipById(videoId, event.channelId, session);
  if (clip) await event.playClip({ ...clip, start: startTime });
}

/** The panel that lists the person or group, otherwise the first one of people, whose match facts may have them. */
function showPeople(focus: PanelFocus, event: WatchedEvent): void {
  const panels = event.getPanels().filter(({ kind }) => kind === "peopleGroups");
  const panel = panels.find(({ renderer }) => lists(renderer, focus)) ?? panels[0];
  if (panel) event.openPanel(panel.id, focus);
}

function lists(renderer: PanelRenderer, { kind, id }: PanelFocus): boolean {
  if (renderer.panel_type !== "peopleGroups") return false;
  return (kind === "group" ? renderer.groups : renderer.people).some((one) => one.id === id);
}

/** The player's page or, without a statistics service, the player's match facts or the viewer's own points and rank. */
async function showStats(playerId: string, event: WatchedEvent, session: Session): Promise<void> {
  const url = await statsUrl(playerId, session);
  const panel = statsPanel(event.getPanels());
  if (url === undefined && panel) event.openPanel(panel.id, { kind: "player", id: playerId });
  else openLink(url);
}

/** `players/<id>` at the host app's statistics service. */
async function statsUrl(playerId: string, { delegate }: Session): Promise<string | undefined> {
  const base = await delegate.call((host) => host.getStatsAPIBaseURL?.(), null);
  return base === null ? undefined : parsedUrl(`players/${encodeURIComponent(playerId)}`, `${base}/`)?.href;
}

function withQuery(address: string, values: Record<string, string | undefined>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(values)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
