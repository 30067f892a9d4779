import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { bloomMayHave } from "#worker/lib/bloom.ts";
import { logError } from "#worker/lib/log.ts";
import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import type {
  AccountTags,
  Broadcast,
  ClearTarget,
  ClientRules,
  Opening,
  PresenceReport,
  SiteConcurrents,
  StateChange,
} from "#worker/durable-objects/channel/channel.protocol.ts";
import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { requireAll } from "#worker/durable-objects/branch/outcome.ts";
import { LatestStates } from "#worker/durable-objects/latest-states.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";
import { SiteCommands } from "#worker/durable-objects/site-commands.ts";
import { setFigures } from "#worker/services/insights/rollup.ts";
import { SiteDevices } from "./devices.ts";
import { keyOf, type Lease, totalsOf } from "./lease.ts";
import { SiteRechecks } from "./rechecks.ts";
import { PresenceSegments } from "./segments.ts";
import { SiteRelays } from "./site-relays.ts";
import { SiteRules } from "./site-rules.ts";
import { viewerFigures } from "./viewer-figures.ts";
import { type Span, ViewerMinutes } from "./viewer-minutes.ts";
import { numberOf } from "#worker/lib/variables.ts";

const ANNOUNCE_MS = 1_000;
const RETRY_MS = 2_000;
const FLUSH_RETRY_MS = 60_000;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS relays (channel_id TEXT NOT NULL, relay INTEGER NOT NULL, PRIMARY KEY (channel_id, relay)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS rules (position INTEGER PRIMARY KEY, id TEXT NOT NULL, channel_id TEXT, body TEXT NOT NULL)`,
];

// Only the list of relays with viewers is stored; counts come from the relays themselves, so none is ever left over.
/** One per site: the open channels, their viewer counts, and site-wide broadcasts. */
export class SitePresence extends SiteObject {
  readonly #siteId: string;
  readonly #relays: SiteRelays;
  readonly #commands: SiteCommands;
  readonly #states: LatestStates;
  readonly #devices: SiteDevices;
  readonly #rechecks: SiteRechecks;
  readonly #segments: PresenceSegments;
  readonly #rules: SiteRules;
  readonly #minutes: ViewerMinutes;
  readonly #recheckRunner = new CoalescedRunner(() => this.#recheckPending());
  readonly #leaseMs: number;
  #leases: Map<string, Lease> | null = null;
  #loading: Promise<Map<string, Lease>> | null = null;
  readonly #announced = new Map<string, number>();
  #lastAnnounced = 0;
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#siteId = ctx.id.name ?? "";
    this.#leaseMs = 2 * numberOf(env, "TIFO_HEARTBEAT_SECONDS") * 1000;
    this.#relays = new SiteRelays(env, this.#siteId);
    this.#commands = new SiteCommands(ctx.storage);
    this.#states = new LatestStates(ctx.storage);
    this.#rechecks = new SiteRechecks(ctx.storage);
    this.#segments = new PresenceSegments(ctx.storage.kv, this.#relays);
    this.#devices = new SiteDevices(ctx.storage, numberOf(env, "TIFO_DEVICES_PER_ADDRESS"));
    this.#rules = new SiteRules(ctx.storage);
    this.#minutes = new ViewerMinutes(ctx.storage, 2 * this.#leaseMs);
    migrate(ctx.storage, "presence", SCHEMA);
  }

  /** Records a relay's count and returns the channel's total. A channel's first report sends it the site-wide broadcasts before it counts as open. */
  async report(report: PresenceReport): Promise<number> {
    const { channelId, relay, count } = report;
    const leases = await this.#ready();
    this.#devices.add(channelId, report.devices, Date.now());
    const opens = count > 0 && !this.#isOpen(channelId);
    if (opens) await this.#repeatCommands(channelId);
    if (count > 0) this.ctx.storage.sql.exec("INSERT OR IGNORE INTO relays (channel_id, relay) VALUES (?, ?)", channelId, relay);
    // From here on the channel receives every new state; this sends those between its opening and this report.
    if (opens) this.ctx.waitUntil(this.#toChannels([channelId], () => this.#repeatStates(channelId)));
    this.#recheckNewcomers(leases.get(keyOf(report)), report);
    const lease = { channelId, relay, count, accounts: report.accounts ?? null, renewedAt: Date.now() };
    this.#renew(leases, lease);
    const caughtUp = this.#segments.catchUp(lease, report.segments);
    this.ctx.waitUntil(caughtUp.catch((error: unknown) => logError("segments_not_sent", error, { relay: keyOf(lease) })));
    this.#minutes.observe(totalsOf(leases), Date.now());
    await this.#announceSoon();
    return totalsOf(leases).get(channelId) ?? 0;
  }

  /** Records the counts of several relays. */
  async reportAll(reports: PresenceReport[]): Promise<void> {
    for (const report of reports) await this.report(report);
  }

  /** Current viewers of the site, by channel, and the distinct devices of the day (UTC). */
  async concurrents(): Promise<SiteConcurrents> {
    const leases = await this.#ready();
    await this.#verify(leases);
    const channels = [...totalsOf(leases)].map(([channelId, concurrents]) => ({ channelId, concurrents }));
    return {
      concurrents: channels.reduce((sum, channel) => sum + channel.concurrents, 0),
      totalViews: this.#devices.count(Date.now()),
      channels,
    };
  }

  /** The viewers of a channel, or of the site, over time. */
  async viewerHistory(channelId: string | null, range: { from: number; to: number; step: number }): Promise<Span[]> {
    this.#minutes.observe(totalsOf(await this.#ready()), Date.now());
    return this.#minutes.spans(channelId, range);
  }

  /** Writes the viewers of the current hours to the database. Safe to repeat. */
  async flushViewers(): Promise<void> {
    const now = Date.now();
    this.#minutes.observe(totalsOf(await this.#ready()), now);
    await setFigures(this.env, this.#siteId, viewerFigures(this.#minutes, this.#devices));
    this.#minutes.markFlushed(now);
  }

  /** Broadcasts to every open channel, and to each that opens before the end; idempotent by its id. */
  async publish(broadcast: Broadcast): Promise<{ channelId: string; seq: number; startsAt: number; endsAt: number }[]> {
    const now = Date.now();
    if (!this.#commands.publish(broadcast, now)) return [];
    this.#commands.markReached(this.#openChannels(), now, broadcast.broadcastId);
    const answers = await this.#toOpenChannels(async (channelId) => {
      const { seq, startsAt, endsAt } = await this.#channel(channelId).publish(broadcast);
      return { channelId, seq, startsAt, endsAt };
    });
    await this.#schedule();
    return answers;
  }

  /** Clears on every channel of the site, open or not; idempotent by `id`. Returns the results of the open ones. */
  async clear(command: { id: string; target: ClearTarget }): Promise<{ channelId: string; seq: number; broadcastIds: string[] }[]> {
    this.#commands.clear(command.id, command.target, Date.now());
    const answers = await this.#toOpenChannels(async (channelId) => {
      const { seq, broadcastIds } = await this.#channel(channelId).clear(command);
      return { channelId, seq, broadcastIds };
    });
    await this.#schedule();
    return answers;
  }

  /** Sends the site's client rules to every open channel, and to each that opens later. Safe to repeat, also out of order. */
  async setRules(clientRules: ClientRules): Promise<void> {
    if (!this.#rules.set(clientRules)) return;
    await this.#toOpenChannels((channelId) => this.#channel(channelId).setRules(clientRules));
  }

  /** Sends a state to every open channel, and each that opens later; the latest per key wins. Throws if a channel hasn't accepted it. */
  async state(change: StateChange): Promise<void> {
    this.#states.put(change, Date.now());
    const results = await Promise.allSettled(this.#openChannels().map((channelId) => this.#channel(channelId).state(change)));
    const failed = results.find((each) => each.status === "rejected");
    if (failed) throw new Error("A channel did not accept the state", { cause: failed.reason });
  }

  /** The channels that a site-wide broadcast has reached. */
  reachedBy(broadcastId: string): string[] {
    return this.#commands.reachedBy(broadcastId);
  }

  /** Sets the tags of these accounts' open sockets; throws if a relay can't be reached. Safe to repeat. */
  async retag(accounts: AccountTags[]): Promise<void> {
    const leases = await this.#ready();
    requireAll(await this.#relays.retag([...leases.values()], accounts));
  }

  /** Call after the site's segments have changed, with the version of the site and a digest of them; false if a relay missed it. Safe to repeat. */
  async resegment(version: number, digest: string): Promise<boolean> {
    return this.#segments.change((await this.#ready()).values(), version, digest);
  }

  /** How many open sockets are in a segment, by channel; throws if a relay can't be reached. */
  async segmentViewers(slug: string): Promise<Map<string, number>> {
    return this.#segments.count((await this.#ready()).values(), slug);
  }

  /**
   * Call after the access of these accounts has changed: each relay that may have one of them rechecks its viewers. Returns once that is
   * stored; a relay gets one call at a time, however many accounts change. Safe to repeat.
   */
  async recheck(accountIds: string[]): Promise<void> {
    const now = Date.now();
    this.#rechecks.add(accountIds, now);
    await this.#wakeBy(now + RETRY_MS);
    this.ctx.waitUntil(this.#recheckRunner.run());
  }

  /** The site state for a channel that opens: the commands after a position, 0 for the first page. */
  async opening(channelId: string, after: number): Promise<Opening> {
    const leases = await this.#ready();
    this.#commands.markReached([channelId], Date.now());
    const states = after === 0 ? this.#states.current(Date.now()) : [];
    return {
      ...this.#commands.current(Date.now(), after),
      rules: this.#rules.current,
      states,
      concurrents: totalsOf(leases).get(channelId) ?? 0,
    };
  }

  /** Announces changed totals, verifies old counts, retries failed commands, prunes expired ones. Safe to run at any time. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const now = Date.now();
    this.#commands.prune(now);
    this.#rechecks.prune(now);
    this.ctx.waitUntil(this.#recheckRunner.run());
    this.#devices.prune(now);
    const leases = await this.#ready();
    await this.#verify(leases);
    this.#minutes.observe(totalsOf(leases), now);
    if (this.#minutes.flushDue <= now) await this.flushViewers().catch((error: unknown) => this.#flushFailed(error));
    this.#minutes.prune(now);
    if (this.ctx.storage.kv.get<boolean>("repeat")) {
      this.ctx.storage.kv.delete("repeat");
      await this.#toOpenChannels((channelId) => this.#repeatCommands(channelId));
    }
    await this.#announceAll(leases);
    await this.#schedule();
  }

  /** Counts of all relays with viewers; after a restart each relay is asked for its own. */
  async #ready(): Promise<Map<string, Lease>> {
    if (this.#leases) return this.#leases;
    this.#loading ??= this.#askAll().finally(() => {
      this.#loading = null;
    });
    this.#leases = await this.#loading;
    return this.#leases;
  }

  async #askAll(): Promise<Map<string, Lease>> {
    const rows = this.ctx.storage.sql.exec<{ channel_id: string; relay: number }>("SELECT channel_id, relay FROM relays").toArray();
    const leases = new Map<string, Lease>();
    const stored = rows.map((row) => ({ channelId: row.channel_id, relay: row.relay, count: 0, accounts: null, renewedAt: 0 }));
    for (const lease of await this.#ask(stored)) this.#renew(leases, lease);
    return leases;
  }

  /** Asks relays for counts that they haven't renewed in time. */
  async #verify(leases: Map<string, Lease>): Promise<void> {
    const old = [...leases.values()].filter((lease) => lease.renewedAt <= Date.now() - this.#leaseMs);
    for (const [i, current] of (await this.#ask(old)).entries()) {
      // A report that arrived in the meantime is newer than the response.
      if (leases.get(keyOf(current)) === old[i]) this.#renew(leases, current);
    }
  }

  /** The relays' own counts; an unreachable relay keeps its last count and is asked again later. */
  async #ask(leases: Lease[]): Promise<Lease[]> {
    const counted = await this.#relays.takeCensus(leases);
    return leases.map((lease, i) => {
      const outcome = counted[i];
      if (outcome?.ok) return { ...lease, ...outcome.value, renewedAt: Date.now() };
      logError("relay_count_unknown", new Error(outcome?.error), { relay: keyOf(lease) });
      return lease;
    });
  }

  /** Makes every relay that may have one of the pending accounts recheck it; the alarm retries failures. */
  async #recheckPending(): Promise<void> {
    const leases = await this.#ready();
    for (;;) {
      const batch = this.#rechecks.pending();
      if (batch.accountIds.length === 0) return;
      const asked = [...leases.values()].flatMap((lease) => {
        const { accounts } = lease;
        const here = accounts ? batch.accountIds.filter((accountId) => bloomMayHave(accounts, accountId)) : batch.accountIds;
        return here.length === 0 ? [] : [{ lease, ownerIds: here }];
      });
      const failed = (await this.#relays.checkRights(asked)).find(({ ok }) => !ok);
      if (failed && !failed.ok) {
        logError("recheck_failed", new Error(failed.error), { siteId: this.#siteId });
        return this.#wakeBy(Date.now() + RETRY_MS);
      }
      this.#rechecks.done(batch);
    }
  }

  /** Rechecks accounts that are new at a relay and changed recently: the relay wasn't asked, because it hadn't reported them yet. */
  #recheckNewcomers(before: Lease | undefined, { accounts: now }: PresenceReport): void {
    if (!now) return;
    const accounts = this.#rechecks
      .recent(Date.now())
      .filter((accountId) => bloomMayHave(now, accountId) && !(before?.accounts && bloomMayHave(before.accounts, accountId)));
    if (accounts.length === 0) return;
    this.#rechecks.add(accounts, Date.now());
    this.ctx.waitUntil(Promise.all([this.#wakeBy(Date.now() + RETRY_MS), this.#recheckRunner.run()]));
  }

  #renew(leases: Map<string, Lease>, lease: Lease): void {
    if (lease.count > 0 || lease.renewedAt === 0) {
      leases.set(keyOf(lease), lease);
      return;
    }
    leases.delete(keyOf(lease));
    this.ctx.storage.sql.exec("DELETE FROM relays WHERE channel_id = ? AND relay = ?", lease.channelId, lease.relay);
  }

  /** Announces totals now, or one second after the last announcement. */
  async #announceSoon(): Promise<void> {
    const now = Date.now();
    if (now - this.#lastAnnounced < ANNOUNCE_MS) return this.#wakeBy(this.#lastAnnounced + ANNOUNCE_MS);
    if (this.#leases) this.ctx.waitUntil(this.#announceAll(this.#leases));
    await this.#schedule();
  }

  /** Sends each channel's total to its relays where it changed. */
  async #announceAll(leases: Map<string, Lease>): Promise<void> {
    this.#lastAnnounced = Date.now();
    const totals = totalsOf(leases);
    for (const channelId of this.#announced.keys()) if (!totals.has(channelId)) this.#announced.delete(channelId);
    const changed = new Map([...totals].filter(([channelId, total]) => this.#announced.get(channelId) !== total));
    for (const [channelId, total] of changed) this.#announced.set(channelId, total);
    const concerned = [...leases.values()].filter(({ channelId }) => changed.has(channelId));
    const outcomes = await this.#relays.announce(concerned, changed);
    // Announced again with the next change of any count.
    for (const [i, { channelId }] of concerned.entries()) if (!outcomes[i]?.ok) this.#announced.delete(channelId);
  }

  #openChannels(): string[] {
    const rows = this.ctx.storage.sql.exec<{ channel_id: string }>("SELECT DISTINCT channel_id FROM relays").toArray();
    return rows.map((row) => row.channel_id);
  }

  #isOpen(channelId: string): boolean {
    return this.ctx.storage.sql.exec("SELECT 1 FROM relays WHERE channel_id = ? LIMIT 1", channelId).toArray().length > 0;
  }

  /** Calls each open channel; failed ones are left out of the result and retried by the alarm. */
  #toOpenChannels<T>(call: (channelId: string) => Promise<T>): Promise<T[]> {
    return this.#toChannels(this.#openChannels(), call);
  }

  async #toChannels<T>(channelIds: string[], call: (channelId: string) => Promise<T>): Promise<T[]> {
    const answers = await Promise.allSettled(channelIds.map(call));
    if (answers.some((answer) => answer.status === "rejected")) {
      this.ctx.storage.kv.put("repeat", true);
      await this.#wakeBy(Date.now() + RETRY_MS);
    }
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  }

  /** Sends a channel all current commands, rules and states; it skips those it already has. */
  async #repeatCommands(channelId: string): Promise<void> {
    const now = Date.now();
    this.#commands.markReached([channelId], now);
    for (let after: number | null = 0; after !== null;) {
      const { commands, next } = this.#commands.current(now, after);
      await this.#channel(channelId).applyCommands(commands);
      after = next;
    }
    const rules = this.#rules.current;
    if (rules) await this.#channel(channelId).setRules(rules);
    await this.#repeatStates(channelId);
  }

  async #repeatStates(channelId: string): Promise<void> {
    for (const change of this.#states.current(Date.now())) await this.#channel(channelId).state(change);
  }

  #channel(channelId: string): ReturnType<Env["CHANNEL"]["getByName"]> {
    return this.env.CHANNEL.getByName(channelName(this.#siteId, channelId));
  }

  /** Sets the alarm for the next lease or command that expires. */
  async #schedule(): Promise<void> {
    const oldest = Math.min(...[...(this.#leases ?? new Map<string, Lease>()).values()].map((lease) => lease.renewedAt));
    const due = Math.min(oldest + this.#leaseMs, this.#commands.nextEnd() ?? Infinity, this.#minutes.flushDue);
    if (due !== Infinity) await this.#wakeBy(Math.max(due, Date.now() + ANNOUNCE_MS));
  }

  #flushFailed(error: unknown): void {
    logError("viewers_flush_failed", error, { siteId: this.#siteId });
    this.#minutes.retryFlushAt(Date.now() + FLUSH_RETRY_MS);
  }

  async #wakeBy(at: number): Promise<void> {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }
}
