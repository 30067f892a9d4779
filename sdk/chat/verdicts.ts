import type { Rejection } from "./state.ts";
import type { ChatResult, ChatSettings } from "./wire.ts";

// Verdicts of the room in plain words. Any other code is shown with the server's own sentence.
const WORDS: Record<string, (result: ChatResult) => string> = {
  chat_banned: () => "You can’t send messages in this chat.",
  chat_members_only: () => "Only members can send messages right now.",
  chat_paused: () => "The chat is paused. Try again once it continues.",
  chat_slow_mode: ({ retryAfter }) => `Slow mode is on. ${inSeconds(retryAfter)}`,
  rate_limited: ({ retryAfter }) => `You’re sending too fast. ${inSeconds(retryAfter)}`,
  chat_busy: () => "The chat is very busy. Try again in a moment.",
  unauthenticated: () => "Sign in to chat.",
};

export function rejectionOf(result: ChatResult): Rejection {
  const { code = "invalid_request", message = "The message wasn’t sent." } = result;
  const { retryAfter } = result;
  return { code, message: WORDS[code]?.(result) ?? message, ...(retryAfter !== undefined && { retryAfter }) };
}

/** Why the viewer can't send at all; null if they can. */
export function blockOf({ mode, moderator, banned }: ChatSettings): Rejection | null {
  if (banned) return { code: "chat_banned", message: banMessage(banned.until, banned.reason) };
  if (mode === "paused" && !moderator) return { code: "chat_paused", message: "A moderator has paused the chat." };
  return null;
}

function banMessage(until: number | null, reason: string): string {
  const end = until === null ? "" : ` until ${new Date(until).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}`;
  return `You can’t send messages in this chat${end}.${reason === "" ? "" : ` Reason: ${reason}`}`;
}

function inSeconds(seconds = 1): string {
  return seconds === 1 ? "Try again in a second." : `Try again in ${seconds} seconds.`;
}
