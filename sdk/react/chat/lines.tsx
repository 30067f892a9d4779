import { memo } from "react";
import type { OutgoingItem } from "../../chat/state.ts";
import { useChatContext } from "./context.tsx";

/** Messages that a busy room left out. */
export function Skipped({ count }: { count: number }) {
  return <p className="tifo-chat-skipped">{count === 1 ? "1 message skipped" : `${count.toLocaleString()} messages skipped`}</p>;
}

/** A message of this viewer that is on its way, or was rejected. */
export const Outgoing = memo(function Outgoing({ item }: { item: OutgoingItem }) {
  const { chat } = useChatContext();
  const { id, text, rejection } = item;
  return (
    <div className="tifo-chat-message" data-own="true" data-rejected={rejection !== null}>
      <p dir="auto" className="tifo-chat-text">
        <span className="tifo-chat-name">You</span>: {text}
      </p>
      {rejection === null ? (
        <p className="tifo-chat-note">Sending…</p>
      ) : (
        <p className="tifo-chat-note" role="alert">
          {rejection.message}{" "}
          <button type="button" className="tifo-chat-textbutton" onClick={() => chat.retry(id)}>
            Try again
          </button>
          <button type="button" className="tifo-chat-textbutton" onClick={() => chat.discard(id)}>
            Discard
          </button>
        </p>
      )}
    </div>
  );
});
