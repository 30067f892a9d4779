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
import { chatRoomOf } from "#worker/durable-objects/stubs.ts";
import { logError } from "#worker/lib/log.ts";
import { type Ban, deviceBan } from "#worker/services/chat/admission.ts";
import { toChatMessage, toViewerSettings } from "#worker/services/chat/message-view.ts";
import { fromRoom } from "#worker/services/chat/rooms.ts";
import { maySee } from "#worker/services/chat/selection.ts";
import { BatchFrames } from "./chat-frames.ts";
import { ChatOutbox } from "./chat-outbox.ts";
import { ChatSends } from "./chat-sends.ts";
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
/** The position is stored this long after it moved, ms: a write for every batch would delay the frames of overlays that follow it. */
const STORE_MS = 1_000;
const SIGN_IN: ChatError = { ok: false, code: "unauthenticated", message: "Connect with a ticket to take part in the chat" };

/** The part of a relay that serves the chat: it hands the room's batches to the sockets that have joined, and nothing to the others. */
export class RelayChat {
  readonly #env: Env;
  readonly #place: { siteId: string; channelId: string; relay: number };
  readonly #sockets: RelaySockets;
  readonly #kv: SyncKvStorage;
  readonly #outbox: ChatOutbox<WebSocket>;
  readonly #sends: ChatSends;
  /** What all joined sockets have reached; null if none has joined. */
  #position: RoomPosition | null;
  #settings: RoomSettings | null = null;
  #banned = new Map<string, Ban>();
  #bannedDevices = new Map<string, Ban>();
  /** Joins that wait for the room, and the batches that arrived in the meantime. */
  #joining = 0;
  #meanwhile: BatchFrames[] = [];
  readonly #joins = new WeakMap<WebSocket, number>();
  /** Whether anybody here has used the chat since the object woke. */
  #isUsed = false;
  #isStoring = false;

  constructor(env: Env, place: { siteId: string; channelId: string; relay: number }, sockets: RelaySockets, kv: SyncKvStorage) {
    this.#env = env;
    this.#place = place;
    this.#sockets = sockets;
    this.#kv = kv;
    this.#position = Position.nullable().parse(kv.get("chatPosition") ?? null);
    const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    this.#outbox = new ChatOutbox({ send: (socket, text) => sockets.sendTo(socket, text), wait });
    this.#sends = new ChatSends({ send: async (requests) => await fromRoom(this.#room().sendAll(requests)), wait });
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
    const outcome = accountId === null ? SIGN_IN : await this.#request(accountId, viewer, frame);
    this.#sockets.sendTo(socket, resultFrame(frame.id, outcome));
  }

  /** Makes way for an overlay that was just sent to the same sockets. */
  yieldToOverlay(): void {
    this.#outbox.yieldToOverlay(Date.now());
  }

  /**
   * Hands a batch to the joined sockets, and resolves when all have it. If it doesn't follow on what they have, sends nothing and returns
   * where to continue.
   */
  async deliver(batch: ChatBatch): Promise<ChatDelivered> {
    const members = this.#members();
    if (members.length + this.#joining === 0) {
      this.#moveTo(null);
      return { position: null, languages: [] };
    }
    const languages = [...new Set(members.flatMap(([, { chat }]) => chat.language ?? []))];
    const position = this.#position ?? batch.from;
    if (isAhead(batch.from, position)) return { position, languages };
    if (batch.settings) {
      this.#settings = batch.settings.settings;
      this.#banned = new Map(batch.settings.banned);
      this.#bannedDevices = new Map(batch.settings.devices);
      this.#closeTo(members);
    }
    const frames = new BatchFrames(batch, this.#settings?.pinned?.id);
    if (this.#joining > 0) this.#meanwhile.push(frames);
    const reached = furthest(position, batch.upTo);
    this.#moveTo(reached);
    this.#apply(batch.people).catch((error: unknown) => this.#log("chat_rights_failed", error));
    const sockets = members.map(([socket]) => socket);
    await this.#outbox.send(sockets, (socket) => {
      const member = this.#sockets.get(socket);
      if (!member || !isMember(member)) return [];
      const texts = frames.textsFor(member);
      return batch.settings && this.#settings ? [...texts, this.#settingsFrame(member, this.#settings)] : texts;
    });
    return { position: reached, languages };
  }

  /** Asks the room what these accounts may do now. Throws if that fails. */
  async recheck(accountIds: string[]): Promise<void> {
    const here = [...this.#sockets.viewers()].flatMap(({ accountId }) => accountId ?? []).filter((id) => accountIds.includes(id));
    if (here.length === 0 || (!this.#isUsed && this.#members().length === 0)) return;
    await this.#apply(await fromRoom(this.#room().people([...new Set(here)])));
  }

  async #join(socket: WebSocket, viewer: Viewer, { after, revision, language }: FrameOf<"chat.join">): Promise<void> {
    const attempt = this.#nextJoin(socket);
    const wanted = language ?? viewer.language;
    this.#joining++;
    let joined: Joined | ChatError;
    try {
      const { accountId, device } = viewer;
      joined = await fromRoom(this.#room().join({ relay: this.#place.relay, accountId, device, language: wanted, after, revision }));
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
    if (joined.deviceBan) return this.#shutOut(socket, viewer, joined.deviceBan, position);
    const member = { at: position.chatSeq, moderator: person?.moderator ?? false, language };
    viewer.chat = member;
    this.#sockets.save(socket, viewer);
    if (!this.#position) this.#moveTo(position);
    const view = (messages: RoomMessage[]) => messages.map((message) => toChatMessage(message, member, reacted[message.id] ?? null));
    const isVisible = (message: RoomMessage) => maySee(message, { accountId: viewer.accountId, moderator: member.moderator });
    const frame: ServerFrame = {
      type: "chat.history",
      recovered,
      messages: view(joined.messages),
      updates: view(joined.updates.filter(isVisible)),
      chatSeq: position.chatSeq,
      revision: position.revision,
      settings: toViewerSettings(settings, member, person?.banned ?? null, Date.now()),
    };
    this.#sockets.sendTo(socket, JSON.stringify(frame));
    const reader = { accountId: viewer.accountId, chat: member };
    for (const frames of this.#meanwhile) for (const text of frames.textsFor(reader)) this.#sockets.sendTo(socket, text);
    if (this.#position) member.at = Math.max(member.at, this.#position.chatSeq);
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

  async #request(accountId: string, { device, language }: Viewer, frame: FrameOf<"chat.send" | "chat.react">) {
    try {
      if (frame.type === "chat.react")
        return await fromRoom(this.#room().react({ accountId, device, messageId: frame.messageId, emoji: frame.emoji }));
      const { id, text, replyTo = null } = frame;
      return await this.#sends.send({ accountId, device, requestId: id, text, replyTo, language, fresh: false });
    } catch (error) {
      this.#log("chat_request_failed", error);
      return UNAVAILABLE;
    }
  }

  /** Applies what people may do from now on, and tells their sockets. */
  async #apply(people: Person[]): Promise<void> {
    for (const person of people) {
      this.#note(person);
      for (const [socket, member] of this.#members()) {
        if (member.accountId !== person.accountId) continue;
        member.chat.moderator = person.moderator;
        this.#sockets.save(socket, member);
        const settings = this.#settings ?? (await fromRoom(this.#room().settings()));
        if (settings) this.#sockets.sendTo(socket, this.#settingsFrame(member, settings));
      }
    }
  }

  /** Ends the membership of those whose device is banned. */
  #closeTo(members: [WebSocket, Member][]): void {
    for (const [socket, member] of members) {
      const ban = member.chat.moderator ? undefined : deviceBan(this.#bannedDevices, member.device, Date.now());
      if (ban && this.#position) this.#shutOut(socket, member, ban, this.#position);
    }
  }

  /** Empties a viewer's chat and tells why; what it sends is rejected by the room. */
  #shutOut(socket: WebSocket, viewer: Viewer, ban: Ban, { chatSeq, revision }: RoomPosition): void {
    if (viewer.chat) this.#leave(socket, viewer);
    if (!this.#settings) return;
    const settings = toViewerSettings(this.#settings, { moderator: false, language: viewer.language }, ban, Date.now());
    const frame: ServerFrame = { type: "chat.history", recovered: false, messages: [], updates: [], chatSeq, revision, settings };
    this.#sockets.sendTo(socket, JSON.stringify(frame));
  }

  #note({ accountId, banned }: Person): void {
    if (banned) this.#banned.set(accountId, banned);
    else this.#banned.delete(accountId);
  }

  #settingsFrame({ accountId, chat }: Member, settings: RoomSettings): string {
    const banned = (accountId !== null && this.#banned.get(accountId)) || null;
    return JSON.stringify({
      type: "chat.settings",
      settings: toViewerSettings(settings, chat, banned, Date.now()),
    } satisfies ServerFrame);
  }

  #members(): [WebSocket, Member][] {
    const members: [WebSocket, Member][] = [];
    for (const [socket, viewer] of this.#sockets.entries()) if (isMember(viewer)) members.push([socket, viewer]);
    return members;
  }

  #moveTo(position: RoomPosition | null): void {
    const isNews = position !== null || this.#position !== null;
    this.#position = position;
    if (this.#isStoring || !isNews) return;
    this.#isStoring = true;
    // The object can't hibernate before the timer fires, and a crash closes the sockets whose position this is.
    setTimeout(() => {
      this.#isStoring = false;
      if (this.#position) this.#kv.put("chatPosition", this.#position);
      else this.#kv.delete("chatPosition");
    }, STORE_MS);
  }

  #room() {
    return chatRoomOf(this.#env, this.#place.siteId, this.#place.channelId);
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
