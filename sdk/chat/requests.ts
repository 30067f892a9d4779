import { done, ok, type Schemas, TifoProblem } from "../client/index.ts";
import { changeLatest, loaded } from "../client/latest.ts";
import type { Session } from "../core/session.ts";
import type { ChatRequests } from "./chat.ts";
import type { ChatReact, ChatResult, ChatSend } from "./wire.ts";

export type ChatRoomSettings = Schemas["ChatSettingsInput"];

/** What moderators, and the authors of messages, can do. Each call rejects with a `TifoProblem`. */
export interface ChatModeration {
  remove: (messageId: string) => Promise<void>;
  decide: (messageId: string, decision: "approve" | "reject") => Promise<void>;
  report: (messageId: string, reason: string) => Promise<void>;
  ban: (ban: Schemas["ChatBanInput"]) => Promise<void>;
  /** Changes some settings of the room and keeps the others. */
  change: (changes: Partial<ChatRoomSettings>) => Promise<void>;
}

const PAGE = 50;

/** The chat's REST operations for one channel. */
export function chatRequests({ client: { api } }: Session, channelId: string): ChatRequests & ChatModeration {
  const room = { params: { path: { channelId } } };
  const messagePath = (id: string) => ({ params: { path: { channelId, id } } });
  const send = async ({ id, text, replyTo }: ChatSend): Promise<ChatResult> => {
    const body = { id, text, ...(replyTo === undefined ? {} : { replyTo }) };
    const message = await ok(api.POST("/chat/v1/{channelId}/messages", { params: { path: { channelId } }, body }));
    return { type: "chat.result", id, ok: true, messageId: message._id, state: message.state === "held" ? "held" : "visible" };
  };
  const react = async ({ id, messageId, emoji }: ChatReact): Promise<ChatResult> => {
    await done(api.PUT("/chat/v1/{channelId}/messages/{id}/reactions", { ...messagePath(messageId), body: { emoji } }));
    return { type: "chat.result", id, ok: true };
  };

  return {
    perform: (frame) =>
      (frame.type === "chat.send" ? send(frame) : react(frame)).catch((error: unknown) => rejectedResult(frame.id, error)),
    loadOlder: (before) =>
      ok(api.GET("/chat/v1/{channelId}/messages", { params: { path: { channelId }, query: { before, limit: PAGE } } })),
    remove: (id) => done(api.DELETE("/chat/v1/{channelId}/messages/{id}", messagePath(id))),
    decide: (id, decision) => done(api.PUT("/chat/v1/{channelId}/messages/{id}", { ...messagePath(id), body: { decision } })),
    report: (id, reason) => done(api.POST("/chat/v1/{channelId}/messages/{id}/reports", { ...messagePath(id), body: { reason } })),
    ban: (body) => done(api.POST("/chat/v1/bans", { body })),
    // Read first, because what other moderators have just changed may still be on its way here.
    change: (changes) =>
      changeLatest(
        () => loaded(api.GET("/chat/v1/{channelId}/settings", room)),
        ({ mode, slowSeconds, premoderate, skus, emoji, languages, pinned }, headers) => {
          const pinnedMessageId = pinned?._id ?? null;
          const body = { ...{ mode, slowSeconds, premoderate, skus, emoji, languages, pinnedMessageId }, ...changes };
          return done(api.PUT("/chat/v1/{channelId}/settings", { ...room, body, headers }));
        },
      ),
  };
}

function rejectedResult(id: string, error: unknown): ChatResult {
  const unexpected = { code: "internal", message: "The message wasn’t sent.", retryAfter: undefined };
  const { code, message, retryAfter } = error instanceof TifoProblem ? error : unexpected;
  return { type: "chat.result", id, ok: false, code, message, ...(retryAfter === undefined ? {} : { retryAfter }) };
}
