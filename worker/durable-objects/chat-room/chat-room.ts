import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { ChatGuard } from "#worker/integrations/chat-guard.ts";
import { logError } from "#worker/lib/log.ts";
import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import { parseName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { chatRoomOf } from "#worker/durable-objects/stubs.ts";
import { deviceBan, inForce, REACTION_RATE } from "#worker/services/chat/admission.ts";
import { languageOf } from "#worker/services/chat/message-view.ts";
import { payForLikes } from "#worker/services/leaderboards/like-awards.ts";
import { writeQueue } from "#worker/services/chat/queue-rows.ts";
import { readRoomConfig, readSenders, type RoomConfig } from "#worker/services/chat/room-config.ts";
import type {
  AnnounceRequest,
  ChatError,
  ExportedMessage,
  Joined,
  JoinRequest,
  MessagePage,
  MessageResponse,
  Outcome,
  PendingMessage,
  Person,
  ReactRequest,
  Reported,
  Reader,
  RoomMessage,
  RoomSettings,
  RoomTask,
  SendOutcome,
  SendRequest,
  StoredMessage,
} from "./chat-room.protocol.ts";
import { LikeQueue } from "./like-queue.ts";
import { Buckets, MessageIntake, NO_ROOM, rateLimited } from "./message-intake.ts";
import { type MessagePlace, MessageStore } from "./message-store.ts";
import { QueueChanges } from "./queue-changes.ts";
import { pendingOf, ReportStore } from "./report-store.ts";
import { relayCalls } from "./relay-calls.ts";
import { RoomFanOut, type RoomSource } from "./room-fan-out.ts";
import { runInRooms } from "./room-tasks.ts";
import { Senders } from "./senders.ts";
import { RoomTally } from "./room-tally.ts";
import { RoomTranslator } from "./room-translator.ts";
import { numberOf } from "#worker/lib/variables.ts";

/** Messages that a joining viewer receives, and the furthest that a returning one is brought up to date from. */
const HISTORY = 100;
/** Changes reach the room as they happen; this makes up for one that didn't. */
const REFRESH_MS = 60_000;
const SAFETY_MS = 5_000;
const PRUNE_MS = 6 * 3_600_000;
const DAY_MS = 86_400_000;
const NO_MESSAGE: ChatError = { ok: false, code: "not_found", message: "The room has no such message" };

/** A channel's chat: its messages, and who may send. Named `<siteId>:<channelId>`. Settings and bans are in the database. */
export class ChatRoom extends SiteObject {
  readonly #siteId: string;
  readonly #channelId: string;
  readonly #store: MessageStore;
  readonly #reports: ReportStore;
  readonly #likes: LikeQueue;
  readonly #queue: QueueChanges;
  readonly #fanOut: RoomFanOut;
  readonly #senders: Senders;
  readonly #intake: MessageIntake;
  readonly #translator: RoomTranslator;
  readonly #tally = new RoomTally(this.env, parseName(this.ctx.id.name));
  readonly #refreshes = new CoalescedRunner(() => this.#readConfig());
  #config: RoomConfig | null | undefined;
  #configAt = 0;
  #settingsVersion = 0;
  readonly #reactionBuckets = new Buckets();
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId } = parseName(ctx.id.name);
    this.#siteId = siteId;
    this.#channelId = channelId;
    this.#store = new MessageStore(ctx.storage);
    this.#reports = new ReportStore(ctx.storage);
    this.#likes = new LikeQueue(ctx.storage, (deeds) => payForLikes(env, siteId, channelId, deeds));
    this.#queue = new QueueChanges(ctx.storage, (changes) => writeQueue(env, siteId, channelId, changes));
    this.#fanOut = new RoomFanOut(this.#source(), ctx.storage.kv.get<number[]>("relays") ?? [], {
      ...relayCalls(env, siteId, channelId),
      save: (relays) => ctx.storage.kv.put("relays", relays),
    });
    this.#senders = new Senders((accountIds) =>
      readSenders(env, { siteId, channelId, skus: this.#config?.settings.skus ?? [] }, accountIds, Date.now()),
    );
    this.#translator = new RoomTranslator(
      env,
      () => this.#languages(),
      (translated) => {
        this.#store.addTranslations(translated);
        this.#changed();
      },
    );
    this.#intake = new MessageIntake(
      new ChatGuard(env, { siteId, channel: channelId }),
      { store: this.#store, senders: this.#senders },
      () => this.#load(),
      (message) => {
        if (message.state === "visible" && !message.muted) this.#translator.add(message);
        this.#changed();
      },
    );
  }

  /** Sends a message, idempotent by account and `requestId`. A rejected one isn't remembered and may be sent again. */
  async send(request: SendRequest): Promise<SendOutcome> {
    return this.#intake.send(request);
  }

  /** Sends messages of a relay's viewers, one outcome each: one that fails doesn't affect the others. */
  async sendAll(requests: SendRequest[]): Promise<SendOutcome[]> {
    return this.#intake.sendAll(requests);
  }

  /** Sends a message of the site itself, idempotent likewise. The caller is a moderator or a developer key. */
  async announce(request: AnnounceRequest): Promise<SendOutcome> {
    return this.#intake.announce(request);
  }

  /** Sets or withdraws an account's reaction. Safe to repeat. */
  async react({ accountId, device, messageId, emoji }: ReactRequest): Promise<Outcome> {
    const config = await this.#load();
    if (!config) return NO_ROOM;
    const now = Date.now();
    if (inForce(config.bans.get(accountId), now) || deviceBan(config.devices, device, now))
      return { ok: false, code: "chat_banned", message: "You may not react in this chat" };
    const wait = this.#reactionBuckets.take(accountId, REACTION_RATE, now);
    if (wait > 0) return rateLimited(wait);
    const message = this.#store.get(messageId);
    if (message?.state !== "visible" || message.chatSeq === null) return NO_MESSAGE;
    if (emoji !== null && !config.settings.emoji.includes(emoji))
      return { ok: false, code: "invalid_request", message: "Not one of the room's emoji", path: "emoji" };
    const counts = this.#reports.react(messageId, accountId, emoji);
    if (counts) this.#store.setReactions(messageId, counts);
    if (counts && emoji !== null && config.paysLikes && !message.system) this.#likes.add(message, accountId, now);
    this.#changed();
    return { ok: true };
  }

  /** Reports a message, once per account. `announce`: the caller publishes the event and then calls `confirmReport`. */
  async report(messageId: string, accountId: string, reason: string): Promise<ChatError | Reported> {
    if (!(await this.#load())) return NO_ROOM;
    const message = this.#store.get(messageId);
    if (message?.state !== "visible" || message.chatSeq === null) return NO_MESSAGE;
    const reported = this.#reports.report(messageId, accountId, reason, Date.now());
    this.#changed();
    return { ok: true, ...reported };
  }

  confirmReport(messageId: string): void {
    this.#reports.confirm(messageId);
  }

  /** Removes a message from all screens. Safe to repeat. */
  async remove(messageId: string): Promise<void> {
    if (!(await this.#load())) return;
    const message = this.#store.get(messageId);
    if (!message) return;
    this.#reports.settle(messageId);
    if (message.state !== "removed") this.#store.remove(messageId);
    if (this.#config?.pinnedMessageId === messageId) this.#settingsVersion++;
    this.#changed();
  }

  /** Shows a held message or keeps a reported one; one that was removed stays removed. Safe to repeat. */
  async approve(messageId: string): Promise<Outcome> {
    if (!(await this.#load())) return NO_ROOM;
    const message = this.#store.get(messageId);
    if (!message) return NO_MESSAGE;
    if (message.state === "removed") return { ok: false, code: "conflict", message: "The message was removed" };
    this.#reports.settle(messageId);
    if (message.state === "held") {
      this.#store.approve(messageId);
      this.#translator.add(message);
    }
    this.#changed();
    return { ok: true };
  }

  /** Removes all that a deleted account wrote, reported and reacted to. Safe to repeat. */
  async erase(accountId: string): Promise<void> {
    if (!(await this.#load())) return;
    this.#intake.forget(accountId);
    for (const id of this.#store.erase(accountId)) this.#reports.settle(id);
    for (const [messageId, counts] of this.#reports.erase(accountId)) this.#store.setReactions(messageId, counts);
    this.#settingsVersion++;
    this.#changed();
  }

  /** Lets a relay's viewer in: from then on the relay receives every batch. */
  async join({ relay, accountId, device, language, after, revision }: JoinRequest): Promise<ChatError | Joined> {
    if (!(await this.#load())) return NO_ROOM;
    const person = accountId === null ? null : await this.#person(accountId);
    const config = this.#config;
    if (!config) return NO_ROOM;
    const { position } = this.#store;
    const settings = this.#settings(config);
    const ban = person?.moderator ? undefined : deviceBan(config.devices, device, Date.now());
    if (ban) return { ok: true, position, recovered: false, messages: [], updates: [], reacted: {}, settings, person, deviceBan: ban };
    // All in one turn from here, so that nothing falls between this history and the next batch.
    this.#fanOut.join(relay, language);
    const missed = after === undefined ? null : this.#store.missedSince(after, revision, HISTORY);
    const reader = { accountId, moderator: person?.moderator ?? false };
    const page = missed ? null : this.#store.pageBefore(position.chatSeq + 1, HISTORY, reader).messages.reverse();
    const messages = missed?.messages ?? page ?? [];
    const updates = missed?.updates ?? [];
    const ids = [...messages, ...updates].map(({ id }) => id);
    return {
      ok: true,
      position,
      recovered: missed !== null,
      messages,
      updates,
      reacted: accountId === null ? {} : this.#reports.reactedTo(ids, accountId),
      settings,
      person,
      deviceBan: null,
    };
  }

  /** What these accounts may do now; read again, because it may have changed. */
  async people(accountIds: string[]): Promise<Person[]> {
    if (!(await this.#load())) return [];
    return Promise.all(accountIds.map((accountId) => this.#person(accountId, true)));
  }

  /** Reads settings, bans and panels again after a change, and tells the relays. Once this resolves, the change applies. */
  async refresh(): Promise<void> {
    await this.#refreshes.run();
  }

  async settings(): Promise<RoomSettings | null> {
    const config = await this.#load();
    return config && this.#settings(config);
  }

  async message(messageId: string): Promise<RoomMessage | null> {
    return (await this.#load()) ? (this.#store.get(messageId) ?? null) : null;
  }

  async messages(reader: Reader, limit: number, before: number | undefined): Promise<MessagePage | null> {
    if (!(await this.#load())) return null;
    const page = this.#store.pageBefore(before ?? this.#store.position.chatSeq + 1, limit, reader);
    const ids = page.messages.map(({ id }) => id);
    return { ...page, reacted: reader.accountId === null ? {} : this.#reports.reactedTo(ids, reader.accountId) };
  }

  /** Those of these messages that still wait for a moderator. */
  async queued(messageIds: string[]): Promise<PendingMessage[]> {
    return (await this.#load()) ? pendingOf(messageIds, this.#store, this.#reports) : [];
  }

  /** The next messages that an account has written, oldest first. */
  async writtenBy(accountId: string, after: MessagePlace | null, limit: number): Promise<StoredMessage[]> {
    return this.#store.writtenBy(accountId, after, limit);
  }

  async responsesBy(accountId: string): Promise<MessageResponse[]> {
    return this.#reports.by(accountId);
  }

  async isUsedBy(accountId: string): Promise<boolean> {
    return this.#store.writtenBy(accountId, null, 1).length + this.#reports.by(accountId).length > 0;
  }

  /** Runs a task here and in other rooms of the site; returns the channels for which it returns true. */
  async runInRooms(channelIds: string[], task: RoomTask): Promise<string[]> {
    return runInRooms(channelIds, (id) => (id === this.#channelId ? this : chatRoomOf(this.env, this.#siteId, id)), task);
  }

  /** The next rows of the export. */
  async exported(after: number, limit: number): Promise<ExportedMessage[]> {
    return this.#store.exported(after, limit).map((row) => ({ ...row, reports: this.#reports.of(row.message.id).length }));
  }

  /** Deletes everything after the channel is deleted. Safe to repeat. */
  async end(): Promise<void> {
    this.#fanOut.close();
    this.#config = undefined;
    this.#alarmAt = null;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    for (const part of [this.#store, this.#reports, this.#likes, this.#queue]) part.reset();
  }

  /** Sends what a crash left unsent, and deletes what is too old. Safe to run at any time. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const now = Date.now();
    if (now - (this.ctx.storage.kv.get<number>("prunedAt") ?? 0) >= PRUNE_MS) {
      this.#reports.drop(this.#store.prune(now - numberOf(this.env, "TIFO_CHAT_RETENTION_DAYS") * DAY_MS, now));
      this.ctx.storage.kv.put("prunedAt", now);
    }
    try {
      // What is sent after a restart includes the settings.
      if (await this.#load()) this.#fanOut.notify();
      await this.#queue.flush();
      await this.#likes.pay();
    } catch (error) {
      this.#log("chat_alarm_failed", error);
    }
    const tallyDue = await this.#tally.count(this.#store.position.chatSeq);
    if (!this.#fanOut.isCaughtUp || !this.#queue.isEmpty || !this.#likes.isEmpty) this.#wakeBy(now + SAFETY_MS);
    else if (this.#store.position.stored > 0) this.#wakeBy(Math.min(tallyDue, now + PRUNE_MS));
  }

  /** The configuration; null if the site has no such channel. Loaded while all calls wait, so that no change is missed. */
  async #load(): Promise<RoomConfig | null> {
    if (this.#config && Date.now() - this.#configAt > REFRESH_MS) {
      this.#configAt = Date.now();
      this.ctx.waitUntil(this.refresh().catch((error: unknown) => this.#log("chat_refresh_failed", error)));
    }
    if (this.#config) return this.#config;
    const failure = await this.ctx.blockConcurrencyWhile(async () => {
      try {
        if (!this.#config) await this.#readConfig();
        return undefined;
      } catch (cause) {
        // Throwing in here would reset the object.
        return new Error("The room's settings can't be read", { cause });
      }
    });
    if (failure) throw failure;
    return this.#config ?? null;
  }

  async #readConfig(): Promise<void> {
    const before = this.#config;
    const config = await readRoomConfig(this.env, this.#siteId, this.#channelId, Date.now());
    this.#config = config;
    this.#configAt = Date.now();
    if (!before || !config) return;
    if (JSON.stringify(before.settings.skus) !== JSON.stringify(config.settings.skus)) this.#senders.clear();
    const shown = ({ settings, pinnedMessageId, devices }: RoomConfig) => JSON.stringify([settings, pinnedMessageId, [...devices]]);
    if (shown(before) !== shown(config)) this.#settingsVersion++;
    const changed = [...new Set([...before.bans.keys(), ...config.bans.keys()])].filter(
      (accountId) => JSON.stringify(before.bans.get(accountId)) !== JSON.stringify(config.bans.get(accountId)),
    );
    this.#fanOut.notify(await Promise.all(changed.map((accountId) => this.#person(accountId))));
  }

  async #person(accountId: string, fresh = false): Promise<Person> {
    const facts = await this.#senders.get(accountId, { fresh });
    return { accountId, moderator: facts?.moderator ?? false, banned: this.#config?.bans.get(accountId) ?? null };
  }

  #settings({ settings, pinnedMessageId }: RoomConfig): RoomSettings {
    const pinned = pinnedMessageId === null ? undefined : this.#store.get(pinnedMessageId);
    return { ...settings, pinned: pinned?.state === "visible" && pinned.chatSeq !== null ? pinned : null };
  }

  /** What the fan-out reads. */
  #source(): RoomSource {
    return {
      position: () => this.#store.position,
      settingsVersion: () => this.#settingsVersion,
      settings: () => this.#payload(),
      batchAfter: (from) => this.#store.batchAfter(from, HISTORY),
    };
  }

  #payload() {
    if (!this.#config) throw new Error("The room's settings aren't loaded");
    const { bans, devices } = this.#config;
    return { settings: this.#settings(this.#config), banned: [...bans], devices: [...devices] };
  }

  /** The languages to translate into: those that the room offers and viewers use. */
  #languages(): string[] {
    const offered = this.#config?.settings.languages ?? [];
    return [...new Set([...this.#fanOut.languages].flatMap((language) => languageOf(offered, language) ?? []))];
  }

  /** Tells the relays and, if messages start or cease to wait for moderators, the queue. */
  #changed(): void {
    this.#fanOut.notify();
    this.#wakeBy(Date.now() + SAFETY_MS);
    // After a failure, the alarm tries again.
    if (!this.#queue.isEmpty) this.ctx.waitUntil(this.#queue.flush().catch((error: unknown) => this.#log("chat_queue_failed", error)));
  }

  #log(event: string, error: unknown): void {
    logError(event, error, { siteId: this.#siteId, channel: this.#channelId });
  }

  /** Never moves the alarm later. */
  #wakeBy(at: number): void {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(at));
  }
}
