import type { ChatState, Rejection } from "../../chat/state.ts";
import type { Texts, Translate } from "../../i18n/texts.ts";

/** Why a message was rejected, in the viewer's language; any other code is shown with the server's own sentence. */
export function rejectionText(t: Translate, { code, message, retryAfter: count = 1 }: Rejection): string {
  switch (code) {
    case "chat_banned":
      return t("You can’t send messages in this chat.");
    case "chat_members_only":
      return t("Only members can send messages right now.");
    case "chat_paused":
      return t("The chat is paused. Try again once it continues.");
    case "chat_slow_mode":
      return t("{count, plural, one {Slow mode is on. Try again in a second.} other {Slow mode is on. Try again in # seconds.}}", {
        count,
      });
    case "rate_limited":
      return t(
        "{count, plural, one {You’re sending too fast. Try again in a second.} other {You’re sending too fast. Try again in # seconds.}}",
        { count },
      );
    case "chat_busy":
      return t("The chat is very busy. Try again in a moment.");
    case "unauthenticated":
      return t("Sign in to chat.");
    default:
      return message;
  }
}

/** Why the viewer can't send at all. */
export function blockText({ t, locale }: Texts, { code }: Rejection, { banned }: NonNullable<ChatState["settings"]>): string {
  if (code !== "chat_banned" || !banned) return t("A moderator has paused the chat.");
  const { until, reason } = banned;
  const end = until === null ? "" : new Date(until).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
  const sentence =
    end === "" ? t("You can’t send messages in this chat.") : t("You can’t send messages in this chat until {end}.", { end });
  return reason === "" ? sentence : `${sentence} ${t("Reason: {reason}", { reason })}`;
}
