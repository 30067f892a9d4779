import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import { segmentLabel } from "#worker/lib/segments.ts";
import { ownerKey, readRights, type Right, type Rights, type SocketOwner } from "#worker/services/realtime/rights.ts";
import { type ConnectionAttributes, type SiteSegments, slugsFor, changeWithTime } from "#worker/services/segments/membership.ts";
import type { VersionedGate, ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { RelaySockets, Viewer } from "./sockets.ts";
import { CLOSE } from "./relay.protocol.ts";

const RETRY_MS = 500;
/** How often the segments that depend on watch time or points are evaluated again. */
const WATCH_CHECK_MS = 5 * 60_000;
const SIGNED_OUT = "The session has ended";
const REVOKED = "This output has been revoked or has expired";
const NO_ENTITLEMENT = "This account has no entitlement to the channel";
const NO_TICKET = "This channel requires a ticket";
const OPEN: VersionedGate = { version: 0, type: "none", digest: "" };

/** Why a viewer is rejected or disconnected. */
export type Denial = NonNullable<Right["denial"]>;

type Newcomer = Pick<ViewerIdentity, "accountId" | "sessionId" | "outputId" | "gate" | "language" | "country" | "segments">;

/** A viewer that is being admitted. */
interface Entry {
  viewer: Newcomer;
  owner: SocketOwner | null;
  /** Whether the data behind its access has changed since the lookup. */
  isStale: boolean;
}

/** Until when at least a viewer may stay (ms), and the labels of the segments that it is in. */
export interface Admission {
  until: number | null;
  segments: string[];
}

interface Decision extends Admission {
  denial: Right["denial"];
  site: Pick<SiteSegments, "version"> & Partial<SiteSegments>;
}

interface Steps<T> {
  open: () => Promise<void>;
  prepare: () => Promise<T> | T;
  admit: (prepared: T, admission: Admission) => Response;
}

type Waiting = { owner: SocketOwner | null; resolve: (rights: Rights) => void; reject: (error: unknown) => void };

/** By which version of the site's segments all sockets are evaluated, and whether any of these depends on watch time or points. */
interface Evaluated {
  version: number;
  usesWatchTime: boolean;
}

interface Hooks {
  /** Asks for an alarm by that moment (ms). */
  wakeBy: (at: number) => void;
  /** The log position that all sockets have reached. */
  position: () => number;
}

/**
 * Decides which viewers may be on the channel, and which segments they are in: looked up when a viewer connects, batched with others connecting at the same time, and again
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
  readonly #hooks: Hooks;

  constructor(env: Env, channel: { siteId: string; channelId: string }, sockets: RelaySockets, kv: SyncKvStorage, hooks: Hooks) {
    this.#hooks = hooks;
    this.#env = env;
    this.#channel = channel;
    this.#sockets = sockets;
    this.#kv = kv;
  }

  /** When the next access check is due, ms; Infinity for never. */
  get due(): number {
    // After an eviction only the flag shows that a check is pending.
    const isPending = this.#kv.get<boolean>("uncheckedGate") === true || this.#lagsBehind;
    let due = Math.min(this.#retryAt ?? (isPending ? 0 : Infinity), this.watchDue);
    for (const { until } of this.#sockets.viewers()) due = Math.min(due, until ?? Infinity);
    return due;
  }

  /**
   * Admits a viewer by calling `admit` in the same turn in which its access is confirmed; otherwise returns why not. `open` runs in
   * parallel with the lookup, `prepare` after it.
   */
  async enter<T>(viewer: Newcomer, { open, prepare, admit }: Steps<T>): Promise<Response | Denial> {
    const entry: Entry = { viewer, owner: ownerOf(viewer), isStale: false };
    this.#entries.add(entry);
    try {
      if (viewer.gate) this.noteGate(viewer.gate);
      const opening = open();
      for (;;) {
        const [decision] = await Promise.all([this.#decide(entry), opening]);
        if (decision.denial) return decision.denial;
        const prepared = await prepare();
        if (entry.isStale) continue;
        this.#noteSegments(decision.site);
        const response = admit(prepared, decision);
        const due = Math.min(decision.until ?? Infinity, this.watchDue);
        if (due !== Infinity) this.#hooks.wakeBy(due);
        return response;
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

  /** The version of the site whose segments all sockets are evaluated by; undefined before the first. */
  get segmentsVersion(): number | undefined {
    return this.#evaluated?.version;
  }

  /** When segments that depend on watch time or points are evaluated next, ms; Infinity if there are none. */
  get watchDue(): number {
    if (!this.#evaluated?.usesWatchTime || this.#sockets.size === 0) return Infinity;
    const due = this.#kv.get<number>("watchDue");
    return due ?? this.#postponeWatchCheck(Date.now());
  }

  /** Evaluates the segments of all sockets again, unless they already are by this version of the site. Safe to repeat. */
  async setSegments(version: number): Promise<void> {
    if (version > this.#latestVersion) {
      this.#kv.put("latestSegments", version);
      for (const entry of this.#entries) entry.isStale = true;
    }
    if (this.#lagsBehind) await this.#checkSegments();
  }

  /** Stores the channel's gate and disconnects viewers that don't pass it. Safe to repeat. */
  async setGate(gate: VersionedGate): Promise<void> {
    if (this.noteGate(gate)) this.#kv.put("uncheckedGate", true);
    if (this.#kv.get<boolean>("uncheckedGate")) await this.#checkAll();
  }

  /** Disconnects viewers of these accounts and outputs that have lost access. Safe to repeat. */
  async check(ownerIds: string[]): Promise<void> {
    const named = new Set(ownerIds);
    for (const entry of this.#entries) if (entry.owner && named.has(idOfOwner(entry.owner))) entry.isStale = true;
    await this.#checkViewers((viewer) => {
      const owner = ownerOf(viewer);
      return owner !== null && named.has(idOfOwner(owner));
    });
  }

  /** Runs the checks that are due: access that expires on its own, and checks that failed before. */
  async checkDue(now: number): Promise<void> {
    if (this.due > now) return;
    this.#retryAt = null;
    try {
      if (this.#kv.get<boolean>("uncheckedGate")) await this.#checkAll();
      if (this.#lagsBehind) await this.#checkSegments();
      if (this.watchDue <= now) {
        this.#postponeWatchCheck(now);
        await this.#checkViewers(hasOwner);
      }
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
      for (const [socket, viewer] of this.#sockets.entries()) if (!hasOwner(viewer)) this.#reject(socket, "unauthenticated", NO_TICKET);
    }
    const { version } = this.#gate;
    try {
      await this.#checkViewers(hasOwner);
    } catch (error) {
      this.#retrySoon();
      throw error;
    }
    if (this.#gate.version === version) this.#kv.delete("uncheckedGate");
  }

  async #checkViewers(matches: (viewer: Viewer) => boolean): Promise<void> {
    const owners = this.#ownersOf(matches);
    if (owners.length === 0) return;
    const { byOwner, site } = await readRights(this.#env, this.#channel, owners, Date.now());
    for (const [socket, viewer] of this.#sockets.entries()) {
      const owner = ownerOf(viewer);
      const right = owner && byOwner.get(ownerKey(owner));
      if (right) this.#apply(socket, viewer, right, site);
    }
  }

  #apply(socket: WebSocket, viewer: Viewer, right: Right, site: SiteSegments): void {
    if (right.denial === "unauthenticated") return this.#reject(socket, right.denial, viewer.outputId === null ? SIGNED_OUT : REVOKED);
    if (right.denial) return this.#reject(socket, right.denial, NO_ENTITLEMENT);
    this.#sockets.resegment(socket, viewer, labelsOf(site, right, viewer), this.#hooks.position());
    if (right.until === viewer.until) return;
    viewer.until = right.until;
    this.#sockets.save(socket, viewer);
    if (right.until !== null) this.#hooks.wakeBy(right.until);
  }

  /** Evaluates the current segments for all sockets, also those of signed-out viewers. */
  async #checkSegments(): Promise<void> {
    const latest = this.#latestVersion;
    try {
      const { byOwner, site } = await readRights(this.#env, this.#channel, this.#ownersOf(hasOwner), Date.now());
      for (const [socket, viewer] of this.#sockets.entries()) {
        const owner = ownerOf(viewer);
        const right = owner && byOwner.get(ownerKey(owner));
        if (right) this.#apply(socket, viewer, right, site);
        // One that has connected since was decided by this version or a later one.
        else if (!owner) this.#sockets.resegment(socket, viewer, labelsOf(site, null, viewer), this.#hooks.position());
      }
      this.#storeEvaluated(Math.max(latest, site.version), changeWithTime(site.segments));
      if (this.watchDue !== Infinity) this.#hooks.wakeBy(this.watchDue);
    } catch (error) {
      this.#retrySoon();
      throw error;
    }
  }

  #ownersOf(matches: (viewer: Viewer) => boolean): SocketOwner[] {
    const owners = new Map<string, SocketOwner>();
    for (const viewer of this.#sockets.viewers()) {
      const owner = matches(viewer) ? ownerOf(viewer) : null;
      if (owner) owners.set(ownerKey(owner), owner);
    }
    return [...owners.values()];
  }

  get #evaluated(): Evaluated | undefined {
    return this.#kv.get<Evaluated>("segments");
  }

  /** The latest version of the site whose segments differ from those before, as far as this relay knows. */
  get #latestVersion(): number {
    return this.#kv.get<number>("latestSegments") ?? 0;
  }

  get #lagsBehind(): boolean {
    return this.#sockets.size > 0 && (this.segmentsVersion ?? 0) < this.#latestVersion;
  }

  /** Notes which segments a viewer that is about to be admitted was evaluated by. */
  #noteSegments({ version, segments }: Decision["site"]): void {
    const known = this.#sockets.size > 0 ? this.#evaluated : undefined;
    const usesWatchTime = segments ? changeWithTime(segments) : (known?.usesWatchTime ?? false);
    if (!known || known.usesWatchTime !== usesWatchTime) this.#storeEvaluated(Math.min(known?.version ?? version, version), usesWatchTime);
  }

  #storeEvaluated(version: number, usesWatchTime: boolean): void {
    this.#kv.put<Evaluated>("segments", { version, usesWatchTime });
  }

  #postponeWatchCheck(now: number): number {
    const due = now + WATCH_CHECK_MS;
    this.#kv.put("watchDue", due);
    return due;
  }

  #retrySoon(): void {
    this.#retryAt = Date.now() + RETRY_MS;
    this.#hooks.wakeBy(this.#retryAt);
  }

  #reject(socket: WebSocket, denial: Denial, message: string): void {
    this.#sockets.reject(socket, CLOSE[denial], denial, message);
  }

  async #decide(entry: Entry): Promise<Decision> {
    entry.isStale = false;
    const { owner, viewer } = entry;
    const isOpen = this.#gate.type === "none";
    const asSignedOut = { until: null, segments: viewer.segments.slugs.map(segmentLabel), site: { version: viewer.segments.version } };
    if (!owner && !isOpen) return { denial: "unauthenticated", ...asSignedOut };
    const isKnown =
      owner === null ? viewer.segments.version >= this.#latestVersion : "accountId" in owner && owner.sessionId === null && isOpen;
    if (isKnown) return { denial: null, ...asSignedOut };
    const { byOwner, site } = await this.#lookUp(owner);
    if (!owner) return { denial: null, until: null, segments: labelsOf(site, null, viewer), site };
    const right = byOwner.get(ownerKey(owner)) ?? { denial: "unauthenticated", until: null, attributes: null };
    return { ...right, segments: labelsOf(site, right, viewer), site };
  }

  #lookUp(owner: SocketOwner | null): Promise<Rights> {
    return new Promise<Rights>((resolve, reject) => {
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
      const owners = new Map(group.flatMap(({ owner }) => (owner ? [[ownerKey(owner), owner] as const] : [])));
      const rights = await readRights(this.#env, this.#channel, [...owners.values()], Date.now());
      for (const { resolve } of group) resolve(rights);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

function ownerOf({ accountId, sessionId, outputId }: Pick<Viewer, "accountId" | "sessionId" | "outputId">): SocketOwner | null {
  if (outputId !== null) return { outputId };
  return accountId === null ? null : { accountId, sessionId };
}

function idOfOwner(owner: SocketOwner): string {
  return "outputId" in owner ? owner.outputId : owner.accountId;
}

/** Whether its access depends on what the database has about it: an account or an output. */
function hasOwner({ accountId, outputId }: Viewer): boolean {
  return accountId !== null || outputId !== null;
}

/** An output is in no segment: what it shows is on air for everybody. */
function labelsOf({ segments }: SiteSegments, right: Right | null, viewer: ConnectionAttributes & Pick<Viewer, "outputId">): string[] {
  if (viewer.outputId !== null) return [];
  return slugsFor(segments, right?.attributes ?? null, viewer).map(segmentLabel);
}
