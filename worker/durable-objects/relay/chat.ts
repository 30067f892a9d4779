import { z } from "@hono/zod-openapi";
import type {
  ChatBatch,
  ChatDelivered,
  ChatError,
  Joined,
  Person,
  RoomMessage,
  RoomPosition,
  RoomSettings,
  SendOutcome,
} from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { logError } from "#worker/lib/log.ts";
import type { Ban } from "#worker/services/chat/admission.ts";
import { toChatMessage, toViewerSettings } from "#worker/services/chat/message-view.ts";
import { maySee, selectMessages } from "#worker/services/chat/selection.ts";
import { errorFrame } from "./frames.ts";
import type { ServerFrame, ViewerFrame } from "./relay.protocol.ts";
import type { ChatMembership, RelaySockets, Viewer } from "./sockets.ts";

export type ChatFrame = Extract<ViewerFrame, { type: `chat.${string}` }>;
/** Whether a frame is the chat's. */
export function isChatFrame(frame: ViewerFrame): frame is ChatFrame {
  return frame.type.startsWith("chat.");
}

type FrameOf<Type extends ChatFrame["type"]> = Extract<ChatFrame, { type: Type }>;
type Member = Viewer & { accountId: string | null; chat: ChatMembership };

const Position = z.object({ chatSeq: z.number(), stored: z.number(), revision: z.number(), removals: z.number() });
const UNAVAILABLE: ChatError = { ok: false, code: "unavailable", message: "The chat is unavailable; try again" };
const SIGN_IN: ChatError = { ok: false, code: "unauthenticated", message: "Connect with a ticket to take part in the chat" };

/** The part of a relay that serves the chat: it hands the room's batches to the sockets that have joined, and nothing to the others. */
export class RelayChat {
  readonly #env: Env;
  readonly #place: { siteId: string; channelId: string; relay: number };
  readonly #sockets: RelaySockets;
  readonly #kv: SyncKvStorage;
  /** What all joined sockets have reached; null if none has joined. */
  #position: RoomPosition | null;
  #settings: RoomSettings | null = null;
  #banned = new Map<string, Ban>();
  /** Joins that wait for the room, and the batches that arrived in the meantime. */
  #joining = 0;
  #meanwhile: ChatBatch[] = [];
  readonly #joins = new WeakMap<WebSocket, number>();
  /** Whether anybody here has used the chat since the object woke. */
  #isUsed = false;

  constructor(env: Env, place: { siteId: string; channelId: string; relay: number }, sockets: RelaySockets, kv: SyncKvStorage) {
    this.#env = env;
    this.#place = place;
    this.#sockets = sockets;
    this.#kv = kv;
    this.#position = Position.nullable().parse(kv.get("chatPosition") ?? null);
  }

  /** Null: no socket has joined. */
  get position(): RoomPosition | null {
    return this.#members().length + this.#joining === 0 ? null : this.#position;
  }

  async handle(socket: WebSocket, viewer: Viewer, frame: ChatFrame): Promise<void> {
    this.#isUsed = true;
    if (frame.type === "chat.join") return this.#join(socket, viewer, frame);
    if (frame.type === "chat.leave") return this.#leave(socket, viewer);
    const { accountId } = viewer;
    const outcome = accountId === null ? SIGN_IN : await this.#request(accountId, viewer.language, frame);
    this.#sockets.sendTo(socket, resultFrame(frame.id, outcome));
  }

  /** Hands a batch to the joined sockets. If it doesn't follow on what they have, sends nothing and returns where to continue. */
  deliver(batch: ChatBatch): ChatDelivered {
    const members = this.#members();
    if (members.length + this.#joining === 0) {
      this.#moveTo(null);
      return { position: null, languages: [] };
    }
    const languages = [...new Set(members.flatMap(([, { chat }]) => chat.language ?? []))];
    const position = this.#position ?? batch.from;
    if (isAhead(batch.from, position)) return { position, languages };
    if (this.#joining > 0) this.#meanwhile.push(batch);
    if (batch.settings) {
      this.#settings = batch.settings.settings;
      this.#banned = new Map(batch.settings.banned);
    }
    const messagesFor = this.#textsOf(batch);
    for (const [socket, member] of members) for (const text of messagesFor(member)) this.#sockets.sendTo(socket, text);
    if (batch.settings) for (const [socket, member] of members) this.#sendSettings(socket, member, batch.settings.settings);
    void this.#apply(batch.people);
    const reached = furthest(position, batch.upTo);
    this.#moveTo(reached);
    return { position: reached, languages };
  }

  /** Asks the room what these accounts may do now. Throws if that fails. */
  async recheck(accountIds: string[]): Promise<void> {
    const here = [...this.#sockets.viewers()].flatMap(({ accountId }) => accountId ?? []).filter((id) => accountIds.includes(id));
    if (here.length === 0 || (!this.#isUsed && this.#members().length === 0)) return;
    await this.#apply(await this.#room().people([...new Set(here)]));
  }

  async #join(socket: WebSocket, viewer: Viewer, { after, revision, language }: FrameOf<"chat.join">): Promise<void> {
    const attempt = this.#nextJoin(socket);
    const wanted = language ?? viewer.language;
    this.#joining++;
    let joined: Joined | ChatError;
    try {
      const { relay } = this.#place;
      joined = await this.#room().join({ relay, accountId: viewer.accountId, language: wanted, after, revision });
    } catch (error) {
      this.#log("chat_join_failed", error);
      joined = UNAVAILABLE;
    } finally {
      this.#joining--;
    }
    // The viewer may have disconnected, left, or joined anew.
    if (this.#sockets.get(socket) === viewer && this.#joins.get(socket) === attempt) this.#welcome(socket, viewer, joined, wanted);
    if (this.#joining === 0) this.#meanwhile = [];
  }

  #welcome(socket: WebSocket, viewer: Viewer, joined: Joined | ChatError, language: string | null): void {
    if (!joined.ok) return this.#sockets.sendTo(socket, errorFrame(joined.code, joined.message));
    const { position, settings, person, recovered, reacted } = joined;
    this.#settings = settings;
    if (person) this.#note(person);
    viewer.chat = { at: position.chatSeq, moderator: person?.moderator ?? false, language };
    this.#sockets.save(socket, viewer);
    if (!this.#position) this.#moveTo(position);
    const view = (messages: RoomMessage[]) =>
      messages.map((message) => toChatMessage(message, viewer.chat ?? { moderator: false, language }, reacted[message.id] ?? null));
    const isVisible = (message: RoomMessage) =>
      maySee(message, { accountId: viewer.accountId, moderator: viewer.chat?.moderator ?? false });
    const frame: ServerFrame = {
      type: "chat.history",
      recovered,
      messages: view(joined.messages),
      updates: view(joined.updates.filter(isVisible)),
      chatSeq: position.chatSeq,
      revision: position.revision,
      settings: toViewerSettings(settings, viewer.chat, person?.banned ?? null, Date.now()),
    };
    this.#sockets.sendTo(socket, JSON.stringify(frame));
    for (const batch of this.#meanwhile)
      for (const text of this.#textsOf(batch)({ ...viewer, chat: viewer.chat })) this.#sockets.sendTo(socket, text);
    if (this.#position) viewer.chat.at = Math.max(viewer.chat.at, this.#position.chatSeq);
  }

  #leave(socket: WebSocket, viewer: Viewer): void {
    this.#nextJoin(socket);
    viewer.chat = null;
    this.#sockets.save(socket, viewer);
  }

  /** Numbers a socket's joins and leaves, so that the response to an earlier one is ignored. */
  #nextJoin(socket: WebSocket): number {
    const attempt = (this.#joins.get(socket) ?? 0) + 1;
    this.#joins.set(socket, attempt);
    return attempt;
  }

  async #request(accountId: string, language: string | null, frame: FrameOf<"chat.send" | "chat.react">) {
    try {
      const room = this.#room();
      if (frame.type === "chat.react") return await room.react({ accountId, messageId: frame.messageId, emoji: frame.emoji });
      const { id, text, replyTo = null } = frame;
      return await room.send({ accountId, requestId: id, text, replyTo, language, fresh: false });
    } catch (error) {
      this.#log("chat_request_failed", error);
      return UNAVAILABLE;
    }
  }

  /** Builds the frames of a batch for any member; those who wrote nothing in it and have the same rights, language and position share them. */
  #textsOf(batch: ChatBatch): (member: Pick<Member, "accountId" | "chat">) => string[] {
    const senders = new Set([...batch.messages, ...batch.updates].map(({ accountId }) => accountId));
    const shared = new Map<string, string[]>();
    return ({ accountId, chat }) => {
      const position = Math.max(chat.at, batch.from.chatSeq);
      const compose = () => this.#compose(batch, { accountId, moderator: chat.moderator, language: chat.language, position });
      if (accountId !== null && senders.has(accountId)) return compose();
      const key = JSON.stringify([chat.moderator, chat.language, position]);
      const texts = shared.get(key) ?? compose();
      shared.set(key, texts);
      return texts;
    };
  }

  #compose(
    { messages, updates, upTo }: ChatBatch,
    reader: { accountId: string | null; moderator: boolean; language: string | null; position: number },
  ): string[] {
    const pinnedId = this.#settings?.pinned?.id;
    const candidates = messages.map((message) => ({
      ...message,
      isPriority: message.roles.length > 0 || message.system || message.id === pinnedId,
    }));
    const selected = selectMessages(candidates, upTo.chatSeq, reader);
    const view = (list: RoomMessage[]) => list.map((message) => toChatMessage(message, reader));
    const changed = updates.filter((message) => maySee(message, reader));
    const frames: ServerFrame[] = [];
    if (selected.messages.length + selected.skipped > 0)
      frames.push({
        type: "chat.messages",
        messages: view(selected.messages),
        skipped: selected.skipped,
        chatSeq: Math.max(reader.position, upTo.chatSeq),
      });
    if (changed.length > 0) frames.push({ type: "chat.updated", messages: view(changed), revision: upTo.revision });
    return frames.map((frame) => JSON.stringify(frame));
  }

  /** Applies what people may do from now on, and tells their sockets. */
  async #apply(people: Person[]): Promise<void> {
    for (const person of people) {
      this.#note(person);
      for (const [socket, member] of this.#members()) {
        if (member.accountId !== person.accountId) continue;
        member.chat.moderator = person.moderator;
        this.#sockets.save(socket, member);
        const settings = this.#settings ?? (await this.#room().settings());
        if (settings) this.#sendSettings(socket, member, settings);
      }
    }
  }

  #note({ accountId, banned }: Person): void {
    if (banned) this.#banned.set(accountId, banned);
    else this.#banned.delete(accountId);
  }

  #sendSettings(socket: WebSocket, { accountId, chat }: Member, settings: RoomSettings): void {
    const banned = (accountId !== null && this.#banned.get(accountId)) || null;
    const frame: ServerFrame = { type: "chat.settings", settings: toViewerSettings(settings, chat, banned, Date.now()) };
    this.#sockets.sendTo(socket, JSON.stringify(frame));
  }

  #members(): [WebSocket, Member][] {
    const members: [WebSocket, Member][] = [];
    for (const [socket, viewer] of this.#sockets.entries()) if (isMember(viewer)) members.push([socket, viewer]);
    return members;
  }

  #moveTo(position: RoomPosition | null): void {
    if (JSON.stringify(position) === JSON.stringify(this.#position)) return;
    this.#position = position;
    if (position) this.#kv.put("chatPosition", position);
    else this.#kv.delete("chatPosition");
  }

  #room() {
    return this.#env.CHAT_ROOM.getByName(channelName(this.#place.siteId, this.#place.channelId));
  }

  #log(event: string, error: unknown): void {
    logError(event, error, this.#place);
  }
}

function isMember(viewer: Viewer): viewer is Member {
  return viewer.chat !== null;
}

function resultFrame(id: string, outcome: SendOutcome | { ok: true } | ChatError): string {
  if (!outcome.ok) {
    const { code, message, retryAfter } = outcome;
    return JSON.stringify({ type: "chat.result", id, ok: false, code, message, retryAfter } satisfies ServerFrame);
  }
  const stored = "messageId" in outcome ? { messageId: outcome.messageId, state: outcome.state } : {};
  return JSON.stringify({ type: "chat.result", id, ok: true, ...stored } satisfies ServerFrame);
}

function isAhead(one: RoomPosition, other: RoomPosition): boolean {
  return one.chatSeq > other.chatSeq || one.stored > other.stored || one.revision > other.revision || one.removals > other.removals;
}

function furthest(one: RoomPosition, other: RoomPosition): RoomPosition {
  return {
    chatSeq: Math.max(one.chatSeq, other.chatSeq),
    stored: Math.max(one.stored, other.stored),
    revision: Math.max(one.revision, other.revision),
    removals: Math.max(one.removals, other.removals),
  };
}
