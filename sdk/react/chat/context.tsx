import { createContext, use, useEffect, useState, useSyncExternalStore } from "react";
import type { ChatModeration, ChatRoomSettings } from "../../chat/requests.ts";
import { type EventChat, shareChat } from "../../chat/shared.ts";
import type { ChatState } from "../../chat/state.ts";
import type { SdkContext } from "../../core/sdk-context.ts";

/** What the chat's components share. */
export interface ChatContextValue extends EventChat {
  sdk: SdkContext;
  /** Performs a request, and shows the reason if it fails. */
  perform: (request: (moderation: ChatModeration) => Promise<void>) => Promise<boolean>;
  /** Changes some settings of the room. */
  change: (changes: Partial<ChatRoomSettings>) => Promise<boolean>;
}

const ChatContext = createContext<ChatContextValue | null>(null);

export const ChatProvider = ChatContext.Provider;

export function useChatContext(): ChatContextValue {
  const context = use(ChatContext);
  if (!context) throw new Error("Tifo: this component must be inside a chat");
  return context;
}

/** The chat's state; the component renders again only if the selected part changes. */
export function useChatState<T>(select: (state: ChatState) => T): T {
  const { chat } = useChatContext();
  const read = () => select(chat.getSnapshot());
  return useSyncExternalStore(chat.subscribe, read, read);
}

/** Joins the event's chat while the component is mounted. */
export function useJoinedChat({ event, session }: SdkContext): EventChat | null {
  const [joined, setJoined] = useState<EventChat | null>(null);
  useEffect(() => {
    const { release, ...shared } = shareChat(event, session);
    setJoined(shared);
    return release;
  }, [event, session]);
  return joined;
}
