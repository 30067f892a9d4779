import type { ChatBatch, RoomMessage } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { toChatMessage } from "#worker/services/chat/message-view.ts";
import { maySee, selectMessages } from "#worker/services/chat/selection.ts";
import type { ServerFrame } from "./relay.protocol.ts";
import type { ChatMembership } from "./sockets.ts";

interface Reader {
  accountId: string | null;
  chat: ChatMembership;
}

/**
 * The frames of a batch, as text. Viewers with the same rights, language and position share one text, unless they wrote something in the
 * batch; then only its envelope is their own, because each message is serialized once for all.
 */
export class BatchFrames {
  readonly #batch: ChatBatch;
  readonly #pinnedId: string | undefined;
  readonly #authors: ReadonlySet<string | null>;
  readonly #shared = new Map<string, string[]>();
  readonly #serialized = new Map<string, string>();

  /** `pinnedId`: the room's pinned message, which nobody misses. */
  constructor(batch: ChatBatch, pinnedId: string | undefined) {
    this.#batch = batch;
    this.#pinnedId = pinnedId;
    // A change of a visible message is the same for its author as for the others.
    const own = [...batch.messages, ...batch.updates.filter(({ chatSeq }) => chatSeq === null)];
    this.#authors = new Set(own.map(({ accountId }) => accountId));
  }

  /** The frames that this member of the room receives; none if it already has them. */
  textsFor({ accountId, chat }: Reader): readonly string[] {
    const position = Math.max(chat.at, this.#batch.from.chatSeq);
    const reader = { accountId, moderator: chat.moderator, language: chat.language, position };
    if (accountId !== null && this.#authors.has(accountId)) return this.#compose(reader);
    const key = `${chat.moderator} ${chat.language} ${position}`;
    const known = this.#shared.get(key);
    if (known) return known;
    const texts = this.#compose(reader);
    this.#shared.set(key, texts);
    return texts;
  }

  #compose(reader: { accountId: string | null; moderator: boolean; language: string | null; position: number }): string[] {
    const { messages, updates, upTo } = this.#batch;
    const candidates = messages.map((message) => ({
      ...message,
      isPriority: message.roles.length > 0 || message.system || message.id === this.#pinnedId,
    }));
    const selected = selectMessages(candidates, upTo.chatSeq, reader);
    const changed = updates.filter((message) => maySee(message, reader));
    const list = (of: readonly RoomMessage[]) => of.map((message) => this.#serialize(message, reader));
    const texts: string[] = [];
    if (selected.messages.length + selected.skipped > 0) {
      const rest: Rest<"chat.messages"> = { skipped: selected.skipped, chatSeq: Math.max(reader.position, upTo.chatSeq) };
      texts.push(frameOf("chat.messages", list(selected.messages), rest));
    }
    if (changed.length > 0) texts.push(frameOf("chat.updated", list(changed), { revision: upTo.revision }));
    return texts;
  }

  #serialize(message: RoomMessage, reader: { moderator: boolean; language: string | null }): string {
    const key = `${message.id} ${message.revision} ${reader.moderator} ${reader.language}`;
    const known = this.#serialized.get(key);
    if (known !== undefined) return known;
    const text = JSON.stringify(toChatMessage(message, reader));
    this.#serialized.set(key, text);
    return text;
  }
}

type Rest<Type> = Omit<Extract<ServerFrame, { type: Type }>, "type" | "messages">;

/** A frame of messages that are already serialized. */
function frameOf<Type extends "chat.messages" | "chat.updated">(type: Type, messages: string[], rest: Rest<Type>): string {
  return `{"type":"${type}","messages":[${messages.join(",")}],${JSON.stringify(rest).slice(1)}`;
}
