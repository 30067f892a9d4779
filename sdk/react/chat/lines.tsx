import { memo } from "react";
import type { OutgoingItem } from "../../chat/state.ts";
import { useChatContext } from "./context.tsx";
import { useTexts } from "../context.tsx";
import { rejectionText } from "./verdict-texts.ts";

/** Messages that a busy room left out. */
export function Skipped({ count }: { count: number }) {
  const { t } = useTexts();
  return <p className="tifo-chat-skipped">{t("{count, plural, one {# message skipped} other {# messages skipped}}", { count })}</p>;
}

/** A message of this viewer that is on its way, or was rejected. */
export const Outgoing = memo(function Outgoing({ item }: { item: OutgoingItem }) {
  const { t } = useTexts();
  const { chat } = useChatContext();
  const { id, text, rejection } = item;
  return (
    <div className="tifo-chat-message" data-own="true" data-rejected={rejection !== null}>
      <p dir="auto" className="tifo-chat-text">
        <bdi className="tifo-chat-name">{t("You")}</bdi>: {text}
      </p>
      {rejection === null ? (
        <p className="tifo-chat-note">{t("Sending…")}</p>
      ) : (
        <p className="tifo-chat-note" role="alert">
          {rejectionText(t, rejection)}{" "}
          <button type="button" className="tifo-chat-textbutton" onClick={() => chat.retry(id)}>
            {t("Try again")}
          </button>
          <button type="button" className="tifo-chat-textbutton" onClick={() => chat.discard(id)}>
            {t("Discard")}
          </button>
        </p>
      )}
    </div>
  );
});
