import type { ChatGuard, GuardVerdict } from "#worker/integrations/chat-guard.ts";
import { newId } from "#worker/lib/ids.ts";
import { logError } from "#worker/lib/log.ts";
import { ACCOUNT_RATE, type Bucket, deviceBan, inForce, rejectionOf, ROOM_RATE, takeToken } from "#worker/services/chat/admission.ts";
import { maskWords } from "#worker/services/chat/filtered-words.ts";
import { maskLinks } from "#worker/services/chat/links.ts";
import { findMentions, type Participant } from "#worker/services/chat/mentions.ts";
import { shownName } from "#worker/services/chat/names.ts";
import type { RoomConfig } from "#worker/services/chat/room-config.ts";
import { normalizeText } from "#worker/services/chat/text.ts";
import type { AnnounceRequest, ChatError, SenderFacts, SendOutcome, SendRequest } from "./chat-room.protocol.ts";
import type { Draft, MessageStore } from "./message-store.ts";
import type { Senders } from "./senders.ts";

/** Whom a text can mention: the last that wrote. */
const PARTICIPANTS = 500;
const MAX_BUCKETS = 20_000;

const UNAVAILABLE: ChatError = { ok: false, code: "unavailable", message: "The chat is unavailable; try again" };
export const NO_ROOM: ChatError = { ok: false, code: "not_found", message: "Channel not found" };

export function rateLimited(retryAfter: number): ChatError {
  return { ok: false, code: "rate_limited", message: `Too many messages; try again in ${retryAfter} s`, retryAfter };
}

/** Token buckets by key. An eviction of the object refills them, but it comes only after a time in which they would fill anyway. */
export class Buckets {
  readonly #buckets = new Map<string, Bucket>();

  /** Takes a token; otherwise returns how many seconds to wait. */
  take(key: string, rate: typeof ACCOUNT_RATE, now: number): number {
    const { bucket, wait } = takeToken(this.#buckets.get(key), rate, now);
    // Drops the bucket that has been used least recently.
    this.#buckets.delete(key);
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size < MAX_BUCKETS) break;
      this.#buckets.delete(oldest);
    }
    this.#buckets.set(key, bucket);
    return wait;
  }
}

/** What viewers and outside services see of a text: links masked unless the sender may post them, then filtered words. */
function maskText(text: string, { isExempt }: SenderFacts, { allowLinks, filter }: RoomConfig): string {
  return maskWords(isExempt || allowLinks ? text : maskLinks(text), filter);
}

/** Takes messages in: checks the sender, masks the text, stores the message. */
export class MessageIntake {
  readonly #guard: ChatGuard;
  readonly #room: { store: MessageStore; senders: Senders };
  readonly #load: () => Promise<RoomConfig | null>;
  readonly #onStored: (message: Draft) => void;
  readonly #buckets = new Buckets();
  readonly #running = new Map<string, Promise<SendOutcome>>();
  readonly #participants = new Map<string, Participant>();

  constructor(
    guard: ChatGuard,
    room: { store: MessageStore; senders: Senders },
    load: () => Promise<RoomConfig | null>,
    onStored: (message: Draft) => void,
  ) {
    this.#guard = guard;
    this.#room = room;
    this.#load = load;
    this.#onStored = onStored;
  }

  async send(request: SendRequest): Promise<SendOutcome> {
    const { accountId, requestId } = request;
    const known = this.#room.store.resultOf(accountId, requestId);
    if (known) return known;
    const key = `${accountId} ${requestId}`;
    const running = this.#running.get(key);
    if (running) return running;
    const sending = this.#send(request).finally(() => this.#running.delete(key));
    this.#running.set(key, sending);
    return sending;
  }

  /** Sends messages of several viewers, one outcome each: one that fails doesn't affect the others. */
  async sendAll(requests: SendRequest[]): Promise<SendOutcome[]> {
    const send = async (request: SendRequest): Promise<SendOutcome> => {
      try {
        return await this.send(request);
      } catch (error) {
        logError("chat_send_failed", error, { accountId: request.accountId });
        return UNAVAILABLE;
      }
    };
    return Promise.all(requests.map(send));
  }

  /** Sends a message of the site itself. Only the filtered words and the room's rate apply to it. */
  async announce({ accountId, requestId, text, replyTo, language }: AnnounceRequest): Promise<SendOutcome> {
    const known = this.#room.store.resultOf(accountId, requestId);
    if (known) return known;
    const normalized = normalizeText(text);
    if (!normalized.ok) return { ok: false, code: "invalid_request", message: normalized.message, path: "text" };
    const config = await this.#load();
    if (!config) return NO_ROOM;
    // Asked again, because a repeat may have run while the settings were loaded.
    const stored = this.#room.store.resultOf(accountId, requestId);
    if (stored) return stored;
    const now = Date.now();
    const rejection = this.#limitRoom(now) ?? this.#checkReply(replyTo);
    if (rejection) return rejection;
    const draft: Draft = {
      ...{ id: newId(now), accountId, name: config.systemName, roles: [], system: true },
      ...{ text: maskWords(normalized.text, config.filter), original: normalized.text, language, replyTo },
      ...{ mentions: [], state: "visible", muted: false, category: null, sentAt: now },
    };
    this.#room.store.append(draft, requestId, now);
    this.#onStored(draft);
    return { ok: true, messageId: draft.id, state: "visible" };
  }

  /** A deleted account can't be mentioned any more. */
  forget(accountId: string): void {
    this.#participants.delete(accountId);
  }

  async #send(request: SendRequest): Promise<SendOutcome> {
    const { accountId, requestId, fresh } = request;
    const normalized = normalizeText(request.text);
    if (!normalized.ok) return { ok: false, code: "invalid_request", message: normalized.message, path: "text" };
    const config = await this.#load();
    if (!config) return NO_ROOM;
    const facts = await this.#room.senders.get(accountId, { fresh, needsMember: config.settings.mode === "members" });
    if (!facts) return { ok: false, code: "unauthenticated", message: "The account no longer exists" };
    const early = this.#limit(accountId, config) ?? this.#reject(request, facts, config);
    if (early) return early;
    const masked = maskText(normalized.text, facts, config);
    const verdict = facts.isExempt || !config.usesModerator ? null : await this.#guard.check(masked);
    // The sender may have been banned, or the room paused, while the automatic moderator was asked.
    const current = (await this.#load()) ?? config;
    const late = this.#reject(request, facts, current) ?? this.#checkReply(request.replyTo);
    if (late) return late;
    const text = { original: normalized.text, masked: current === config ? masked : maskText(normalized.text, facts, current) };
    const draft = this.#draft(request, text, { facts, verdict, config: current });
    this.#room.store.append(draft, requestId, draft.sentAt);
    if (draft.state === "visible" && !draft.muted) this.#remember({ accountId, name: draft.name });
    this.#onStored(draft);
    return { ok: true, messageId: draft.id, state: draft.state === "held" ? "held" : "visible" };
  }

  #draft(
    { accountId, replyTo, language }: SendRequest,
    { original, masked }: { original: string; masked: string },
    { facts, verdict, config }: { facts: SenderFacts; verdict: GuardVerdict | null; config: RoomConfig },
  ): Draft {
    const now = Date.now();
    const muted = inForce(config.mutes.get(accountId), now);
    const isHeld = !muted && !facts.isExempt && (config.settings.premoderate || verdict?.hold === true);
    return {
      id: newId(now),
      accountId,
      name: facts.roles.length > 0 ? facts.name : shownName({ id: accountId, name: facts.name }, config.looks),
      roles: facts.roles,
      system: false,
      text: masked,
      original,
      category: isHeld && verdict?.hold ? verdict.category : null,
      language,
      replyTo,
      mentions: findMentions(masked, [...this.#participants.values()]),
      state: isHeld ? "held" : "visible",
      muted,
      sentAt: now,
    };
  }

  #reject({ accountId, device }: SendRequest, facts: SenderFacts, { bans, devices, settings }: RoomConfig): ChatError | undefined {
    const lastSentAt = settings.slowSeconds > 0 ? this.#room.store.lastSentAt(accountId) : undefined;
    const now = Date.now();
    const ofDevice = facts.isExempt ? undefined : deviceBan(devices, device, now);
    const rejection = rejectionOf({ ...facts, banned: ofDevice ?? bans.get(accountId), lastSentAt }, settings, now);
    return rejection && { ok: false, ...rejection };
  }

  /** A banned account gets the ban as its answer, and uses nothing of the room's rate. */
  #limit(accountId: string, { bans }: RoomConfig): ChatError | undefined {
    const now = Date.now();
    if (inForce(bans.get(accountId), now)) return undefined;
    const wait = this.#buckets.take(accountId, ACCOUNT_RATE, now);
    return wait > 0 ? rateLimited(wait) : this.#limitRoom(now);
  }

  #limitRoom(now: number): ChatError | undefined {
    if (this.#buckets.take("", ROOM_RATE, now) === 0) return undefined;
    return { ok: false, code: "chat_busy", message: "Too many messages in this chat at the moment", retryAfter: 1 };
  }

  #checkReply(replyTo: string | null): ChatError | undefined {
    if (replyTo === null) return undefined;
    const message = this.#room.store.get(replyTo);
    if (message?.state === "visible" && message.chatSeq !== null) return undefined;
    return { ok: false, code: "invalid_request", message: "Not a visible message of the room", path: "replyTo" };
  }

  #remember(participant: Participant): void {
    this.#participants.delete(participant.accountId);
    this.#participants.set(participant.accountId, participant);
    for (const oldest of this.#participants.keys()) {
      if (this.#participants.size <= PARTICIPANTS) break;
      this.#participants.delete(oldest);
    }
  }
}
