import { useState } from "react";
import { useChatContext, useChatState } from "./context.tsx";
import { Icon } from "./icons.tsx";

/** The pinned message. A viewer can hide it; a moderator unpins it for everybody. */
export function Pinned() {
  const { change } = useChatContext();
  const pinned = useChatState(({ settings }) => settings?.pinned ?? null);
  const isModerator = useChatState(({ settings }) => settings?.moderator === true);
  const [hidden, setHidden] = useState<string | null>(null);
  if (!pinned || pinned.text === null || pinned._id === hidden) return null;
  return (
    <aside className="tifo-chat-pinned" aria-label="Pinned message">
      <Icon name="pin" />
      <p dir="auto">
        <strong>{pinned.name}</strong> {pinned.translation?.text ?? pinned.text}
      </p>
      <button
        type="button"
        className="tifo-chat-icon"
        aria-label={isModerator ? "Unpin" : "Hide pinned message"}
        onClick={() => (isModerator ? void change({ pinnedMessageId: null }) : setHidden(pinned._id))}
      >
        <Icon name="close" />
      </button>
    </aside>
  );
}
