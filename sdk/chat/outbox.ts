import type { OutgoingItem } from "./state.ts";
import { rejectionOf } from "./verdicts.ts";
import type { ChatMessage, ChatResult, ChatSend } from "./wire.ts";

interface Outgoing {
  item: OutgoingItem;
  /** The message that it became, according to the server, or presumably: see `arrived`. */
  messageId: string | null;
  /** When the server accepted it, in ms; null before. */
  acceptedAt: number | null;
}

// An accepted message that never arrives was removed in the meantime.
const KEEP_ACCEPTED_MS = 10_000;
const MAX_REJECTED = 10;

/** The viewer's own messages between sending and their appearance in the room. */
export class Outbox {
  #outgoing: readonly Outgoing[] = [];

  /** Those to show. */
  get items(): readonly OutgoingItem[] {
    return this.#outgoing.flatMap(({ item, messageId, acceptedAt }) => (messageId === null || acceptedAt !== null ? item : []));
  }

  /** The frames without a response, to be sent again with the same ids. */
  get unanswered(): ChatSend[] {
    return this.#outgoing.flatMap(({ item, acceptedAt }) => (item.rejection === null && acceptedAt === null ? frameOf(item) : []));
  }

  add(id: string, text: string, replyTo: string | null): ChatSend {
    const item: OutgoingItem = { kind: "outgoing", key: `outgoing ${id}`, id, text, replyTo, rejection: null };
    this.#outgoing = [...this.#outgoing, { item, messageId: null, acceptedAt: null }];
    return frameOf(item);
  }

  /** A rejected message again, at the end. With the same id: the server remembers only the ids of accepted messages. */
  retry(id: string): ChatSend | undefined {
    const found = this.#outgoing.find(({ item }) => item.id === id && item.rejection !== null)?.item;
    if (!found) return undefined;
    this.remove(id);
    return this.add(id, found.text, found.replyTo);
  }

  remove(id: string): void {
    this.#outgoing = this.#outgoing.filter(({ item }) => item.id !== id);
  }

  /** The server's verdict. Returns whether the message is known. */
  settle(result: ChatResult, isShown: (messageId: string) => boolean, now: number): boolean {
    if (!this.#outgoing.some(({ item }) => item.id === result.id)) return false;
    const accepted = result.ok ? (result.messageId ?? null) : null;
    this.#outgoing = this.#outgoing.flatMap((one) => {
      if (one.item.id !== result.id) return accepted !== null && one.messageId === accepted ? { ...one, messageId: null } : one;
      if (!result.ok) return { item: { ...one.item, rejection: rejectionOf(result) }, messageId: null, acceptedAt: null };
      return accepted === null || isShown(accepted) ? [] : { ...one, messageId: accepted, acceptedAt: now };
    });
    this.#limitRejected();
    return true;
  }

  /**
   * New messages have arrived. One of this viewer's own without a verdict yet is presumably the one of the same text, or the first that was
   * sent, so that it isn't shown twice; the verdict corrects this. `history`: older ones may be among them, so only the text counts.
   */
  arrived(messages: readonly ChatMessage[], accountId: string | null, now: number, history = false): void {
    if (this.#outgoing.length === 0) return;
    const claimed = new Set(this.#outgoing.map(({ messageId }) => messageId));
    const own = messages.filter((message) => message.accountId !== null && message.accountId === accountId && !claimed.has(message._id));
    this.#dropAccepted(messages, history ? now : now - KEEP_ACCEPTED_MS);
    for (const { _id, text } of own) {
      const free = this.#outgoing.filter(({ item, messageId }) => item.rejection === null && messageId === null);
      const match = free.find(({ item }) => item.text === text) ?? (history ? undefined : free[0]);
      this.#outgoing = this.#outgoing.map((one) => (one === match ? { ...one, messageId: _id } : one));
    }
  }

  /** Drops the accepted messages that have arrived, or that were accepted before `since`. */
  #dropAccepted(arrived: readonly ChatMessage[], since: number): void {
    const ids = new Set<string | null>(arrived.map(({ _id }) => _id));
    this.#outgoing = this.#outgoing.filter(
      ({ messageId, acceptedAt }) => acceptedAt === null || (!ids.has(messageId) && acceptedAt > since),
    );
  }

  clear(): void {
    this.#outgoing = [];
  }

  #limitRejected(): void {
    const rejected = this.#outgoing.filter(({ item }) => item.rejection !== null);
    const excess = new Set(rejected.slice(0, Math.max(0, rejected.length - MAX_REJECTED)));
    if (excess.size > 0) this.#outgoing = this.#outgoing.filter((one) => !excess.has(one));
  }
}

function frameOf({ id, text, replyTo }: OutgoingItem): ChatSend {
  return { type: "chat.send", id, text, ...(replyTo === null ? {} : { replyTo }) };
}
