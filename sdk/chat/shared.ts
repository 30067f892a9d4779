import type { WatchedEvent } from "../core/event.ts";
import type { Session } from "../core/session.ts";
import { type Chat, joinChat } from "./chat.ts";
import { chatRequests, type ChatModeration } from "./requests.ts";

/** The chat of an event that is being watched. */
export interface EventChat {
  chat: Chat;
  moderation: ChatModeration;
}

const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
// A panel that is shown again soon, such as after a change of tabs, finds its chat as it was.
const LINGER_MS = 5_000;

interface Shared extends EventChat {
  users: number;
}

const chats = new WeakMap<WatchedEvent, Shared>();

/** Joins the event's chat, once for all of its users. Call `release` when it is no longer needed. */
export function shareChat(event: WatchedEvent, session: Session): EventChat & { release: () => void } {
  const shared = chats.get(event) ?? join(event, session);
  chats.set(event, shared);
  shared.users++;
  let released = false;
  return {
    ...shared,
    release() {
      if (released) return;
      released = true;
      shared.users--;
      session.environment.setTimer(() => leaveIfUnused(event, shared), LINGER_MS);
    },
  };
}

function leaveIfUnused(event: WatchedEvent, shared: Shared): void {
  if (shared.users > 0 || chats.get(event) !== shared) return;
  chats.delete(event);
  shared.chat.leave();
}

function join(event: WatchedEvent, session: Session): Shared {
  const requests = chatRequests(session, event.channelId);
  const chat = joinChat({
    connection: event,
    requests,
    environment: session.environment,
    accountId: async () => accountOf(await session.client.token()),
    language: [session.language, navigator.language].find((tag) => tag !== undefined && LANGUAGE.test(tag)),
  });
  return { chat, moderation: requests, users: 0 };
}

/** The account that a JWT was issued to; null for an anonymous viewer, or if it can't be parsed. */
function accountOf(jwt: string | null): string | null {
  try {
    const payload: unknown = JSON.parse(atob((jwt?.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
    return typeof payload === "object" && payload !== null && "sub" in payload && typeof payload.sub === "string" ? payload.sub : null;
  } catch {
    return null;
  }
}
