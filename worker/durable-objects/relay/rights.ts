import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import { ownerKey, readRights, type Right, type SocketOwner } from "#worker/services/realtime/rights.ts";
import type { VersionedGate, ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { RelaySockets, Viewer } from "./sockets.ts";
import { CLOSE } from "./relay.protocol.ts";

const RETRY_MS = 500;
const SIGNED_OUT = "The session has ended";
const NO_ENTITLEMENT = "This account has no entitlement to the channel";
const NO_TICKET = "This channel requires a ticket";
const OPEN: VersionedGate = { version: 0, type: "none", digest: "" };

/** Why a viewer is rejected or disconnected. */
export type Denial = NonNullable<Right["denial"]>;

/** A viewer that is being admitted. */
interface Entry {
  owner: SocketOwner | null;
  /** Whether the data behind its access has changed since the lookup. */
  isStale: boolean;
}

interface Steps<T> {
  open: () => Promise<void>;
  prepare: () => Promise<T> | T;
  admit: (prepared: T, until: number | null) => Response;
}

type Waiting = { owner: SocketOwner; resolve: (right: Right) => void; reject: (error: unknown) => void };

/**
 * Decides which viewers may be on the channel: looked up when a viewer connects, batched with others connecting at the same time, and again
 * whenever it may have changed. A change during admission restarts that lookup, so nobody slips through.
 */
export class RelayRights {
  readonly #env: Env;
  readonly #channel: { siteId: string; channelId: string };
  readonly #sockets: RelaySockets;
  readonly #kv: SyncKvStorage;
  readonly #entries = new Set<Entry>();
  readonly #lookups = new CoalescedRunner(() => this.#lookUpWaiting());
  #waiting: Waiting[] = [];
  #retryAt: number | null = null;
  readonly #wakeBy: (at: number) => void;

  /** `wakeBy` asks for an alarm by that moment (ms). */
  constructor(
    env: Env,
    channel: { siteId: string; channelId: string },
    sockets: RelaySockets,
    kv: SyncKvStorage,
    wakeBy: (at: number) => void,
  ) {
    this.#wakeBy = wakeBy;
    this.#env = env;
    this.#channel = channel;
    this.#sockets = sockets;
    this.#kv = kv;
  }

  /** When the next access check is due, ms; Infinity for never. */
  get due(): number {
    // After an eviction only the flag shows that a check is pending.
    let due = this.#retryAt ?? (this.#kv.get<boolean>("uncheckedGate") ? 0 : Infinity);
    for (const { until } of this.#sockets.viewers()) due = Math.min(due, until ?? Infinity);
    return due;
  }

  /**
   * Admits a viewer by calling `admit` in the same turn in which its access is confirmed; otherwise returns why not. `open` runs in
   * parallel with the lookup, `prepare` after it.
   */
  async enter<T>(
    { accountId, sessionId, gate }: Pick<ViewerIdentity, "accountId" | "sessionId" | "gate">,
    { open, prepare, admit }: Steps<T>,
  ): Promise<Response | Denial> {
    const entry: Entry = { owner: accountId === null ? null : { accountId, sessionId }, isStale: false };
    this.#entries.add(entry);
    try {
      if (gate) this.noteGate(gate);
      const opening = open();
      for (;;) {
        const [right] = await Promise.all([this.#rightOf(entry), opening]);
        if (right.denial) return right.denial;
        const prepared = await prepare();
        if (!entry.isStale) return admit(prepared, right.until);
      }
    } finally {
      this.#entries.delete(entry);
    }
  }

  /** Stores a gate received from the Worker or the channel; true if it differs from the current one. */
  noteGate(gate: VersionedGate): boolean {
    const known = this.#gate;
    if (gate.version < known.version) return false;
    const isChange = gate.type !== known.type || gate.digest !== known.digest;
    if (gate.version > known.version || isChange) this.#kv.put("gate", gate);
    if (isChange) for (const entry of this.#entries) entry.isStale = true;
    return isChange;
  }

  /** Stores the channel's gate and disconnects viewers that don't pass it. Safe to repeat. */
  async setGate(gate: VersionedGate): Promise<void> {
    if (this.noteGate(gate)) this.#kv.put("uncheckedGate", true);
    if (this.#kv.get<boolean>("uncheckedGate")) await this.#checkAll();
  }

  /** Disconnects viewers of these accounts that have lost access. Safe to repeat. */
  async check(accountIds: string[]): Promise<void> {
    const named = new Set(accountIds);
    for (const entry of this.#entries) if (entry.owner && named.has(entry.owner.accountId)) entry.isStale = true;
    await this.#checkViewers((viewer) => viewer.accountId !== null && named.has(viewer.accountId));
  }

  /** Runs the checks that are due: access that expires on its own, and checks that failed before. */
  async checkDue(now: number): Promise<void> {
    if (this.due > now) return;
    this.#retryAt = null;
    try {
      if (this.#kv.get<boolean>("uncheckedGate")) await this.#checkAll();
      await this.#checkViewers(({ until }) => until !== null && until <= now);
    } catch (error) {
      this.#retrySoon();
      throw error;
    }
  }

  get #gate(): VersionedGate {
    return this.#kv.get<VersionedGate>("gate") ?? OPEN;
  }

  async #checkAll(): Promise<void> {
    if (this.#gate.type !== "none") {
      for (const [socket, { accountId }] of this.#sockets.entries())
        if (accountId === null) this.#reject(socket, "unauthenticated", NO_TICKET);
    }
    const { version } = this.#gate;
    try {
      await this.#checkViewers(({ accountId }) => accountId !== null);
    } catch (error) {
      this.#retrySoon();
      throw error;
    }
    if (this.#gate.version === version) this.#kv.delete("uncheckedGate");
  }

  async #checkViewers(matches: (viewer: Viewer) => boolean): Promise<void> {
    const owners = new Map<string, SocketOwner>();
    for (const viewer of this.#sockets.viewers()) {
      const owner = matches(viewer) ? ownerOf(viewer) : null;
      if (owner) owners.set(ownerKey(owner), owner);
    }
    if (owners.size === 0) return;
    const rights = await readRights(this.#env, this.#channel, [...owners.values()], Date.now());
    for (const [socket, viewer] of this.#sockets.entries()) {
      const owner = ownerOf(viewer);
      const right = owner && rights.get(ownerKey(owner));
      if (right?.denial === "unauthenticated") this.#reject(socket, right.denial, SIGNED_OUT);
      else if (right?.denial) this.#reject(socket, right.denial, NO_ENTITLEMENT);
      else if (right && right.until !== viewer.until) {
        viewer.until = right.until;
        this.#sockets.save(socket, viewer);
        if (right.until !== null) this.#wakeBy(right.until);
      }
    }
  }

  #retrySoon(): void {
    this.#retryAt = Date.now() + RETRY_MS;
    this.#wakeBy(this.#retryAt);
  }

  #reject(socket: WebSocket, denial: Denial, message: string): void {
    this.#sockets.reject(socket, CLOSE[denial], denial, message);
  }

  async #rightOf(entry: Entry): Promise<Right> {
    entry.isStale = false;
    const { owner } = entry;
    const { type } = this.#gate;
    if (!owner) return { denial: type === "none" ? null : "unauthenticated", until: null };
    if (owner.sessionId === null && type === "none") return { denial: null, until: null };
    return new Promise<Right>((resolve, reject) => {
      this.#waiting.push({ owner, resolve, reject });
      // A failure rejects each waiting promise.
      void this.#lookups.run();
    });
  }

  /** One lookup for all waiting viewers. */
  async #lookUpWaiting(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    try {
      const owners = new Map(group.map(({ owner }) => [ownerKey(owner), owner]));
      const rights = await readRights(this.#env, this.#channel, [...owners.values()], Date.now());
      for (const { owner, resolve } of group) resolve(rights.get(ownerKey(owner)) ?? { denial: "unauthenticated", until: null });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

function ownerOf({ accountId, sessionId }: Viewer): SocketOwner | null {
  return accountId === null ? null : { accountId, sessionId };
}
