import { useState } from "react";
import { useChatContext, useChatState } from "./context.tsx";
import { Icon } from "./icons.tsx";
import { useTexts } from "../context.tsx";

// Characters of a text that is cut until the viewer expands it.
const LONG = 100;

/** The pinned message. A viewer can hide it; a moderator unpins it for everybody. */
export function Pinned() {
  const { t } = useTexts();
  const { change } = useChatContext();
  const pinned = useChatState(({ settings }) => settings?.pinned ?? null);
  const isModerator = useChatState(({ settings }) => settings?.moderator === true);
  const [hidden, setHidden] = useState<string | null>(null);
  const [whole, setWhole] = useState<string | null>(null);
  if (!pinned || pinned.text === null || pinned._id === hidden) return null;
  const text = pinned.translation?.text ?? pinned.text;
  const isLong = text.length > LONG;
  const isCut = isLong && whole !== pinned._id;
  return (
    <aside className="tifo-chat-pinned" aria-label={t("Pinned message")}>
      <Icon name="pin" />
      <div>
        <p dir="auto" data-cut={isCut}>
          <bdi>
            <strong>{pinned.name}</strong>
          </bdi>{" "}
          {text}
        </p>
        {isLong && (
          <button type="button" className="tifo-chat-textbutton" aria-expanded={!isCut} onClick={() => setWhole(isCut ? pinned._id : null)}>
            {isCut ? t("Show all") : t("Show less")}
          </button>
        )}
      </div>
      <button
        type="button"
        className="tifo-chat-icon"
        aria-label={isModerator ? t("Unpin") : t("Hide pinned message")}
        onClick={() => (isModerator ? void change({ pinnedMessageId: null }) : setHidden(pinned._id))}
      >
        <Icon name="close" />
      </button>
    </aside>
  );
}
