import type { Environment } from "../channel/index.ts";
import { createStore, type Store } from "../core/store.ts";
import { countAfter, firstSeq, type RoomItem, withMessage, withMessages, withReaction, withSkipped, withUpdates } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import { RequestQueue } from "./request-queue.ts";
import { type ChatState, EMPTY_CHAT } from "./state.ts";
import {
  type ChatHistory,
  type ChatMessages,
  type ChatReact,
  type ChatResult,
  type ChatSend,
  type ChatSettings,
  type ChatViewerFrame,
  isChatFrame,
} from "./wire.ts";

/** The viewer's connection to the channel. */
export interface ChatConnection {
  /** False if there is no open socket. */
  send(frame: ChatViewerFrame): boolean;
  /** Whether messages and reactions have to be sent as requests. Joining and leaving work all the same. */
  isReceiveOnly(): boolean;
  /** Calls the listener with each frame, and returns a function that removes it. */
  onFrame(listener: (frame: { type: string }) => void): () => void;
}

/** Requests that aren't frames. */
export interface ChatRequests {
  /** Messages before a position, newest first, and the position of the next page. */
  loadOlder(before: number): Promise<{ results: ChatMessages["messages"]; before: number | null }>;
  /** Sends a message or a reaction. Never rejects. */
  perform(frame: ChatSend | ChatReact): Promise<ChatResult>;
}

export interface ChatOptions {
  connection: ChatConnection;
  requests: ChatRequests;
  environment: Pick<Environment, "now">;
  /** The signed-in account; null: anonymous. */
  accountId(): Promise<string | null>;
  /** The viewer's language, for translations. */
  language?: string | undefined;
}

/** A chat as a store that works with React's `useSyncExternalStore(chat.subscribe, chat.getSnapshot)`. */
export interface Chat {
  readonly subscribe: Store<ChatState>["subscribe"];
  readonly getSnapshot: Store<ChatState>["getSnapshot"];
  /** Sends a message, which appears at once, and again after every reconnection until the server has responded. */
  send(text: string, replyTo?: string | null): void;
  /** Sends a rejected message again. */
  retry(id: string): void;
  /** Removes a rejected message. */
  discard(id: string): void;
  /** Sets, replaces or, with null, withdraws the viewer's reaction. */
  react(messageId: string, emoji: string | null): void;
  loadOlder(): Promise<void>;
  /** Whether the viewer reads the end of the chat. Otherwise messages that arrive are counted in `unread`. */
  setFollowing(following: boolean): void;
  /** Returns to the end of the chat. */
  showLatest(): void;
  leave(): void;
}

/** Messages that are kept; older ones are loaded again when the viewer scrolls up. */
export const MAX_MESSAGES = 500;
/** So many are left when there are more, so that the list doesn't move at its start with every message. */
const TRIMMED_TO = 400;

/** Joins the chat of a channel over the viewer's connection, and again after every reconnection. */
export function joinChat(options: ChatOptions): Chat {
  const room = new Room(options);
  room.start();
  return {
    subscribe: room.store.subscribe,
    getSnapshot: room.store.getSnapshot,
    send: (text, replyTo = null) => room.send(text, replyTo),
    retry: (id) => room.retry(id),
    discard: (id) => room.discard(id),
    react: (messageId, emoji) => room.react(messageId, emoji),
    loadOlder: () => room.loadOlder(),
    setFollowing: (following) => room.setFollowing(following),
    showLatest: () => room.showLatest(),
    leave: () => room.leave(),
  };
}

interface Reaction {
  messageId: string;
  emoji: string | null;
  previous: string | null;
}

class Room {
  readonly store: Store<ChatState> = createStore(EMPTY_CHAT);
  readonly #options: ChatOptions;
  readonly #outbox = new Outbox();
  readonly #reactions = new Map<string, Reaction>();
  readonly #requests: RequestQueue;
  #items: readonly RoomItem[] = [];
  /** The position in the room; null until the first history. */
  #position: { chatSeq: number; revision: number } | null = null;
  #following = true;
  #awaitingHistory = true;
  #olderBefore: number | null = null;
  #stopListening = () => {};
  #left = false;
  /** Incremented when the list starts over, so that older pages of the previous one are ignored. */
  #generation = 0;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.#requests = new RequestQueue(
      (frame) => options.requests.perform(frame),
      (result) => this.#receiveResult(result),
    );
  }

  start(): void {
    this.#stopListening = this.#options.connection.onFrame((frame) => this.#receive(frame));
    void this.#join();
  }

  leave(): void {
    this.#left = true;
    this.#requests.clear();
    this.#stopListening();
    this.#options.connection.send({ type: "chat.leave" });
  }

  send(text: string, replyTo: string | null): void {
    if (!this.store.getSnapshot().atLatest) this.showLatest();
    this.#deliver(this.#outbox.add(crypto.randomUUID(), text, replyTo));
    this.#set({});
  }

  retry(id: string): void {
    const frame = this.#outbox.retry(id);
    if (!frame) return;
    if (!this.store.getSnapshot().atLatest) this.showLatest();
    this.#deliver(frame);
    this.#set({});
  }

  discard(id: string): void {
    this.#outbox.remove(id);
    this.#set({});
  }

  react(messageId: string, emoji: string | null): void {
    const item = this.#items.find(({ key }) => key === messageId);
    if (item?.kind !== "message") return;
    const id = crypto.randomUUID();
    this.#reactions.set(id, { messageId, emoji, previous: item.message.reacted ?? null });
    this.#setItems(withMessage(this.#items, messageId, (message) => withReaction(message, emoji)));
    this.#deliver({ type: "chat.react", id, messageId, emoji });
  }

  setFollowing(following: boolean): void {
    this.#following = following;
    if (following && this.store.getSnapshot().unread > 0) this.#set({ unread: 0 });
  }

  showLatest(): void {
    this.setFollowing(true);
    if (this.store.getSnapshot().atLatest) return;
    this.#position = null;
    void this.#join();
  }

  async loadOlder(): Promise<void> {
    const before = this.#olderBefore;
    if (before === null || this.store.getSnapshot().loadingOlder) return;
    const generation = this.#generation;
    this.#set({ loadingOlder: true });
    try {
      const page = await this.#options.requests.loadOlder(before);
      if (generation !== this.#generation) return;
      this.#olderBefore = page.before;
      const older = withMessages(this.#items, [...page.results].reverse(), 0);
      const excess = Math.max(0, older.length - MAX_MESSAGES);
      this.#setItems(older.slice(0, older.length - excess), excess > 0 ? { atLatest: false } : {});
    } finally {
      if (generation === this.#generation) this.#set({ loadingOlder: false });
    }
  }

  /** Joins at the last position, as whoever is signed in now. */
  async #join(): Promise<void> {
    this.#awaitingHistory = true;
    const accountId = await this.#options.accountId();
    if (this.#left) return;
    if (accountId !== this.store.getSnapshot().accountId) this.#startOver(accountId);
    const { language } = this.#options;
    const position = this.#position && { after: this.#position.chatSeq, revision: this.#position.revision };
    const joined = this.#options.connection.send({ type: "chat.join", ...position, ...(language === undefined ? {} : { language }) });
    if (!joined) return this.#set({ status: this.#position ? "waiting" : "joining" });
    for (const frame of this.#outbox.unanswered) this.#deliver(frame);
    for (const [id, { messageId, emoji }] of this.#reactions) this.#deliver({ type: "chat.react", id, messageId, emoji });
  }

  /** Without a connection, the frame is delivered after the next welcome. The server counts an id once, however it arrives. */
  #deliver(frame: ChatSend | ChatReact): void {
    const { connection } = this.#options;
    if (!connection.send(frame) && connection.isReceiveOnly()) this.#requests.add(frame);
  }

  /** Another viewer: what the previous one saw, and hadn't sent yet, isn't theirs. */
  #startOver(accountId: string | null): void {
    this.#position = null;
    this.#outbox.clear();
    this.#reactions.clear();
    this.#requests.clear();
    this.#set({ accountId, settings: null, sendableAt: 0 });
  }

  #receive(frame: { type: string }): void {
    if (frame.type === "welcome") return void this.#join();
    if (!isChatFrame(frame)) return;
    switch (frame.type) {
      case "chat.history":
        return this.#receiveHistory(frame);
      case "chat.messages":
        // The history that was requested contains them.
        if (!this.#awaitingHistory) this.#receiveMessages(frame);
        return;
      case "chat.updated":
        if (this.#position) this.#position.revision = Math.max(this.#position.revision, frame.revision);
        return this.#setItems(withUpdates(this.#items, frame.messages));
      case "chat.settings":
        return this.#set({ settings: frame.settings });
      case "chat.result":
        return this.#receiveResult(frame);
    }
  }

  #receiveHistory({ recovered, messages, updates, chatSeq, revision, settings }: ChatHistory): void {
    const position = this.#position;
    this.#awaitingHistory = false;
    this.#position = { chatSeq, revision };
    if (recovered && position) {
      this.#append(messages, countAfter(messages, position.chatSeq, chatSeq), 0);
      return this.#setItems(withUpdates(this.#items, updates), { status: "live", settings });
    }
    this.#generation++;
    this.#outbox.arrived(messages, this.store.getSnapshot().accountId, this.#options.environment.now(), true);
    const first = messages.find((message) => message.chatSeq !== null)?.chatSeq ?? null;
    this.#olderBefore = first !== null && first > 1 ? first : null;
    this.#setItems(withMessages([], messages, first === null ? chatSeq : first - 1), {
      ...{ status: "live", settings, atLatest: true, loadingOlder: false },
      ...(this.#following && { unread: 0 }),
    });
  }

  #receiveMessages({ messages, chatSeq }: ChatMessages): void {
    const position = this.#position;
    if (!position) return;
    const reached = Math.max(position.chatSeq, chatSeq);
    // A frame may arrive twice, so what is new follows from the positions.
    const arrived = countAfter(messages, position.chatSeq, reached);
    const skipped = reached - position.chatSeq - arrived;
    this.#position = { ...position, chatSeq: reached };
    this.#append(messages, arrived, skipped);
  }

  #append(messages: ChatMessages["messages"], arrived: number, skipped: number): void {
    const { accountId, unread, atLatest } = this.store.getSnapshot();
    const known = new Set(this.#items.map(({ key }) => key));
    const unknown = messages.filter(({ _id }) => !known.has(_id));
    this.#outbox.arrived(unknown, accountId, this.#options.environment.now());
    const changes: Partial<ChatState> = this.#following ? {} : { unread: unread + arrived + skipped };
    const from = this.#items.at(-1)?.at ?? 0;
    const isFull = this.#items.length + messages.length > MAX_MESSAGES;
    // Somebody who reads older messages keeps them: the end is loaded again when they return to it.
    if (!atLatest || (isFull && !this.#following))
      return this.#setItems(withUpdates(this.#items, messages), { ...changes, atLatest: false });
    const end = this.#position?.chatSeq ?? from;
    const items = withSkipped(withMessages(this.#items, messages, from), end, skipped);
    this.#setItems(this.#withoutOldest(items), changes);
  }

  #withoutOldest(items: readonly RoomItem[]): readonly RoomItem[] {
    if (items.length <= MAX_MESSAGES) return items;
    const kept = items.slice(-TRIMMED_TO);
    this.#olderBefore = firstSeq(kept) ?? this.#olderBefore;
    return kept;
  }

  #receiveResult(result: ChatResult): void {
    const reaction = this.#reactions.get(result.id);
    this.#reactions.delete(result.id);
    if (reaction && !result.ok) this.#revert(reaction);
    const now = this.#options.environment.now();
    const isShown = (messageId: string) => this.#items.some(({ key }) => key === messageId);
    if (!this.#outbox.settle(result, isShown, now)) return;
    const wait = result.ok ? slowSeconds(this.store.getSnapshot().settings) : (result.retryAfter ?? 0);
    this.#set(wait > 0 ? { sendableAt: now + wait * 1000 } : {});
  }

  #revert({ messageId, emoji, previous }: Reaction): void {
    const revert = (message: ChatMessages["messages"][number]) =>
      (message.reacted ?? null) === emoji ? withReaction(message, previous) : message;
    this.#setItems(withMessage(this.#items, messageId, revert));
  }

  #setItems(items: readonly RoomItem[], changes: Partial<ChatState> = {}): void {
    this.#items = items;
    this.#set(changes);
  }

  #set(changes: Partial<ChatState>): void {
    const items = [...this.#items, ...this.#outbox.items];
    this.store.update((state) => ({ ...state, items, hasOlder: this.#olderBefore !== null, ...changes }));
  }
}

/** Seconds until this viewer may send another message. */
function slowSeconds(settings: ChatSettings | null): number {
  return settings === null || settings.moderator ? 0 : settings.slowSeconds;
}
