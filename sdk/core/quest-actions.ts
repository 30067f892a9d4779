import type { PanelInfo, QuestState } from "../model/state.ts";
import { type CallToAction, performCallToAction } from "./calls-to-action.ts";
import type { WatchedEvent } from "./event.ts";
import { pollsOf } from "./panels.ts";
import type { Session } from "./session.ts";
import { webAddress } from "./web-address.ts";
import { key } from "../i18n/key.ts";
import type { Translate } from "../i18n/texts.ts";

const ID = /^[0-9a-f]{24}$/;

export type QuestAction = QuestState["actions"][number];

/** The button of a quest's action. */
interface Step {
  /** What it opens. Absent: it only reports. */
  call?: CallToAction;
  /** Whether the client must report it, because the server can't see it. */
  reports: boolean;
  /** The button's label, unless the action has its own. */
  label: string;
}

/** Null if the action needs no button, because the server counts what the viewer does elsewhere. */
export function stepOf(action: QuestAction, event: WatchedEvent): Step | null {
  const { kind, value } = action;
  const url = [action.callToAction, value].find(isUrl);
  switch (kind) {
    case "open:link":
    case "retweet":
      return url === undefined ? null : { call: { type: "open_link", data: { url } }, reports: true, label: key("Open|link") };
    case "share:facebook:video":
      return url === undefined ? null : { call: { type: "facebook_share", data: { url } }, reports: true, label: key("Share") };
    case "quest:view":
      return { ...(url !== undefined && { call: { type: "open_link", data: { url } } }), reports: true, label: key("Mark as seen") };
    case "view:panel":
      return panelStep(event.getPanels().find(({ id }) => id === value || id === action.callToAction));
    case "watch:specific:video":
      return value === undefined ? null : { call: { type: "play_video", data: { videoId: value } }, reports: false, label: key("Watch") };
    default:
      return kind.startsWith("answer:") ? panelStep(event.getPanels().find((panel) => pollsOf(panel).some((id) => id === value))) : null;
  }
}

/** The label of its button: the call to action, unless that is a URL or an id. */
export function labelOfStep({ callToAction }: QuestAction, { label }: Step, t: Translate): string {
  return callToAction === undefined || isUrl(callToAction) || ID.test(callToAction) ? t(label) : callToAction;
}

/** Performs the step, and reports it to the server if required. Rejects with a `TifoProblem`. */
export async function performStep(
  questId: string,
  action: QuestAction,
  element: Element,
  event: WatchedEvent,
  session: Session,
): Promise<void> {
  const step = stepOf(action, event);
  if (!step) return;
  const { arrayId, kind, value } = action;
  session.delegate.track("quest.action", { questId, arrayId, kind });
  const performed = step.call && performCallToAction(step.call, element, event, session);
  if (step.reports) await event.reportQuestAction(questId, arrayId, value);
  await performed;
}

/** Only panels of the event can be opened. */
function panelStep(panel: PanelInfo | undefined): Step | null {
  return panel ? { call: { type: "show_panel", data: { panelId: panel.id } }, reports: false, label: key("Show|panel") } : null;
}

function isUrl(text: string | undefined): boolean {
  return webAddress(text) !== null;
}
