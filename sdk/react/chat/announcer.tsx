import { useEffect, useState } from "react";
import type { ChatItem } from "../../chat/state.ts";
import { useChatContext } from "./context.tsx";
import { useTexts } from "../context.tsx";
import type { Translate } from "../../i18n/texts.ts";

// A screen reader that reads every message of a busy chat could read nothing else.
const INTERVAL_MS = 6_000;
const READ_IN_FULL = 2;

/** Announces new messages in groups: a few in full, many as their number and the last one. */
export function Announcer() {
  const { t } = useTexts();
  const { chat } = useChatContext();
  const [announcement, setAnnouncement] = useState("");

  useEffect(() => {
    let last = lastKey(chat.getSnapshot().items);
    const timer = setInterval(() => {
      const { items } = chat.getSnapshot();
      const index = items.findIndex(({ key }) => key === last);
      const added = items.slice(index + 1);
      const isKnown = index >= 0 || last === undefined;
      last = lastKey(items);
      if (isKnown && added.length > 0) setAnnouncement(announcementOf(t, added, chat.getSnapshot().accountId));
    }, INTERVAL_MS);
    return () => clearInterval(timer);
  }, [chat, t]);

  return (
    <p className="tifo-only-read" role="status">
      {announcement}
    </p>
  );
}

/** The key of the newest message that others can have written. */
function lastKey(items: readonly ChatItem[]): string | undefined {
  for (let index = items.length - 1; index >= 0; index--) if (items[index]?.kind !== "outgoing") return items[index]?.key;
  return undefined;
}

export function announcementOf(t: Translate, items: readonly ChatItem[], accountId: string | null): string {
  const texts = items.flatMap((item) =>
    item.kind === "message" && (accountId === null || item.message.accountId !== accountId)
      ? `${item.message.name}: ${item.message.translation?.text ?? item.message.text ?? ""}`
      : [],
  );
  const skipped = items.reduce((sum, item) => sum + (item.kind === "skipped" ? item.count : 0), 0);
  if (texts.length + skipped <= READ_IN_FULL) return texts.join(". ");
  const values = { count: texts.length + skipped, latest: texts.at(-1) ?? t("others") };
  return t("{count, plural, one {# new message} other {# new messages}}. Latest from {latest}", values);
}
