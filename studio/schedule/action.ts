import type { Schemas } from "#sdk/client/index.ts";
import type { Access } from "#studio/session/access.ts";

export type ScheduledAction = Schemas["ScheduledAction"];
type State = ScheduledAction["state"];

/** What the list can show: what is still to come, or what became of the rest. */
export const STATES: readonly { value: State; text: string }[] = [
  { value: "pending", text: "To come" },
  { value: "done", text: "Done" },
  { value: "failed", text: "Failed" },
  { value: "missed", text: "Missed" },
  { value: "cancelled", text: "Cancelled" },
];

/** The state that an address names; by default what is still to come. */
export function stateOf(text: string | undefined): State {
  return STATES.find(({ value }) => value === text)?.value ?? "pending";
}

const VERBS: Record<ScheduledAction["kind"], string> = {
  "overlay.broadcast": "Shows the overlay",
  "poll.open": "Opens the poll",
  "poll.close": "Closes the poll",
  "quest.open": "Opens the quest",
  "quest.close": "Closes the quest",
};

export function verbOf({ kind }: Pick<ScheduledAction, "kind">): string {
  return VERBS[kind];
}

const SCREENS: Record<string, string> = { overlay: "/overlays", poll: "/polls", quest: "/quests" };

/** The screen of what is shown, opened or closed. */
export function screenOf({ kind, targetId }: Pick<ScheduledAction, "kind" | "targetId">): string {
  return `${SCREENS[kind.split(".")[0] ?? ""] ?? ""}/${targetId}`;
}

/** Where it comes from. What follows from a poll or quest is changed there. */
export function sourceText({ source }: Pick<ScheduledAction, "source">): string {
  return source === "request" ? "Scheduled" : `Time of the ${source}`;
}

/** Whether the account may cancel it, as the server decides: what it scheduled itself, and what is on channels that it may change. */
export function canCancel(action: ScheduledAction, access: Access, accountId: string): boolean {
  const { state, source, scheduledBy, channelId } = action;
  if (state !== "pending" || source !== "request") return false;
  return access.writesSite || scheduledBy?.id === accountId || (channelId !== null && access.managesChannel(channelId, "write"));
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RELATIVE = new Intl.RelativeTimeFormat("en-GB", { numeric: "always" });

/** How far away a time is: "in 5 minutes", "2 hours ago". */
export function awayText(time: number, now: number): string {
  const away = time - now;
  const distance = Math.abs(away);
  if (distance < MINUTE) return away >= 0 ? "in less than a minute" : "less than a minute ago";
  if (distance < HOUR) return RELATIVE.format(Math.trunc(away / MINUTE), "minute");
  if (distance < DAY) return RELATIVE.format(Math.trunc(away / HOUR), "hour");
  return RELATIVE.format(Math.trunc(away / DAY), "day");
}
