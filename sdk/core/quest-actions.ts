import type { PanelInfo, QuestState } from "../model/state.ts";
import { type CallToAction, performCallToAction } from "./calls-to-action.ts";
import type { WatchedEvent } from "./event.ts";
import { pollsOf } from "./panels.ts";
import type { Session } from "./session.ts";
import { webAddress } from "./web-address.ts";

const ID = /^[0-9a-f]{24}$/;

export type QuestAction = QuestState["actions"][number];

/** What the button of a quest's action does. */
interface Step {
  /** Where it leads; absent: nowhere, it only reports. */
  call?: CallToAction;
  /** Whether the viewer's client alone can tell that it is done. */
  reports: boolean;
  /** What the button says where the action doesn't. */
  label: string;
}

/** Null: there is nothing to press; what the viewer does elsewhere counts by itself. */
export function stepOf(action: QuestAction, event: WatchedEvent): Step | null {
  const { kind, value } = action;
  const url = [action.callToAction, value].find(isAddress);
  switch (kind) {
    case "open:link":
    case "retweet":
      return url === undefined ? null : { call: { type: "open_link", data: { url } }, reports: true, label: "Open" };
    case "share:facebook:video":
      return url === undefined ? null : { call: { type: "facebook_share", data: { url } }, reports: true, label: "Share" };
    case "quest:view":
      return { ...(url !== undefined && { call: { type: "open_link", data: { url } } }), reports: true, label: "I have seen it" };
    case "view:panel":
      return panelStep(event.getPanels().find(({ id }) => id === value || id === action.callToAction));
    case "watch:specific:video":
      return value === undefined ? null : { call: { type: "play_video", data: { videoId: value } }, reports: false, label: "Watch" };
    default:
      return kind.startsWith("answer:") ? panelStep(event.getPanels().find((panel) => pollsOf(panel).some((id) => id === value))) : null;
  }
}

/** What its button says: the call to action, where that is words and neither an address nor an id. */
export function labelOfStep({ callToAction }: QuestAction, { label }: Step): string {
  return callToAction === undefined || isAddress(callToAction) || ID.test(callToAction) ? label : callToAction;
}

/** Does what the button is for, and tells the server where it can't see that. Rejects with a `TifoProblem`. */
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
  const led = step.call && performCallToAction(step.call, element, event, session);
  if (step.reports) await event.reportQuestAction(questId, arrayId, value);
  await led;
}

/** Only what the event has can be opened. */
function panelStep(panel: PanelInfo | undefined): Step | null {
  return panel ? { call: { type: "show_panel", data: { panelId: panel.id } }, reports: false, label: "Show" } : null;
}

function isAddress(text: string | undefined): boolean {
  return webAddress(text) !== null;
}
