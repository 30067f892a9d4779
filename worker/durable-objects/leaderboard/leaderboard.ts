import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { newId } from "#worker/lib/ids.ts";
import { logError } from "#worker/lib/log.ts";
import { announceAwards } from "#worker/services/leaderboards/announcements.ts";
import { readResponders } from "#worker/services/leaderboards/responders.ts";
import { publishTop } from "#worker/services/leaderboards/viewers.ts";
import { recheckMembers, thresholdsOf } from "#worker/services/segments/thresholds.ts";
import {
  type AwardOutcome,
  type BeyondPoints,
  type LedgerEntry,
  type NewAward,
  type OwnAward,
  type OwnStanding,
  type RankPage,
  type RankPosition,
  type Settlement,
  TOP,
  type WatchedMinutes,
} from "./leaderboard.protocol.ts";
import { Ledger } from "./ledger.ts";
import { Settlements } from "./settlements.ts";
import { WatchedMinutesStore } from "./watched-minutes.ts";

/** Shortest time between two notifications: viewers are notified at most twice a second. */
const NOTIFY_MS = 500;
/** Time between two events about awards by keys. */
const ANNOUNCE_MS = 1_000;
/** Longest time between two attempts. */
const RETRY_MS = 32_000;
/** Members whose segments are evaluated again in one run, and the time between two runs. */
const RECHECKED = 500;
const RECHECK_MS = 2_000;
/** Accounts that are paid for a settled poll in one transaction, and such pages in one run. */
const PAGE = 500;
const PAGES = 20;

const GONE: AwardOutcome = { ok: false, code: "not_found", message: "The leaderboard was deleted" };

/** Awards by keys that the site's log doesn't know of yet. */
interface Announcement {
  eventId: string;
  awards: number;
  points: number;
}

const WORK = ["collect", "settle", "announce", "notify", "recheck"] as const;
type Work = (typeof WORK)[number];

/**
 * One leaderboard, named `<siteId>:<leaderboardId>`: its awards, and the ranks that follow from them. Awards are stored before the response;
 * the alarm notifies viewers, announces awards by keys as an event, and pays for settled polls.
 */
export class Leaderboard extends SiteObject {
  readonly #siteId: string;
  readonly #id: string;
  #ledger: Ledger;
  #settlements: Settlements;
  #watched: WatchedMinutesStore;
  /** When each work is due, ms. After a restart all but the watched minutes are due at the next alarm. */
  readonly #due: Record<Work, number> = { notify: 0, announce: 0, settle: 0, collect: 0, recheck: 0 };
  readonly #failures: Record<Work, number> = { notify: 0, announce: 0, settle: 0, collect: 0, recheck: 0 };
  #notifiedAt = 0;
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const [siteId = "", id = ""] = (ctx.id.name ?? "").split(":");
    this.#siteId = siteId;
    this.#id = id;
    this.#ledger = new Ledger(ctx.storage);
    this.#settlements = new Settlements(ctx.storage, this.#ledger);
    this.#watched = new WatchedMinutesStore(ctx.storage, this.#ledger);
    this.#due.collect = this.#watched.due;
  }

  /** Records awards, each once by its cause; an outcome for each. */
  award(awards: NewAward[]): AwardOutcome[] {
    if (this.#isDeleted()) return awards.map(() => GONE);
    const outcomes = this.#ledger.award(awards);
    const added = awards.filter((_, index) => isNew(outcomes[index]));
    this.#announceLater(added.filter(({ rule }) => rule === null));
    if (added.length > 0) this.#notifySoon();
    return outcomes;
  }

  /** Stores watched minutes, which are awarded together a while later. Safe to repeat. */
  watched(watched: WatchedMinutes): void {
    if (this.#isDeleted()) return;
    this.#watched.add(watched, Date.now());
    this.#schedule("collect", this.#watched.due);
  }

  /** Pays for a poll's outcome. Safe to repeat. */
  settle(settlement: Settlement): void {
    if (!this.#isDeleted() && this.#settlements.add(settlement)) this.#schedule("settle", Date.now());
  }

  ranks(from: { after: RankPosition } | { offset: number }, limit: number): RankPage {
    return this.#ledger.page(from, limit);
  }

  ranksAround(accountId: string, neighbours: number): OwnStanding {
    return this.#ledger.around(accountId, neighbours);
  }

  /** Starts with all that is known by now: watched minutes too. */
  entries(after: number, limit: number): LedgerEntry[] {
    if (after === 0) this.#awardWatched();
    return this.#ledger.entries(after, limit);
  }

  /** An account's own awards, by cause. */
  awardsOf(accountId: string, after: string, limit: number): OwnAward[] {
    if (after === "") this.#awardWatched();
    return this.#ledger.awardsOf(accountId, after, limit);
  }

  /** The points of these accounts; those without any are missing. */
  pointsOf(accountIds: string[]): Record<string, number> {
    return this.#ledger.pointsOf(accountIds);
  }

  /** Who has at least these points or, if they are 0, fewer; lists up to `limit` of them. */
  beyond(points: number, limit: number): BeyondPoints {
    return this.#ledger.beyond(points, limit);
  }

  /** Evaluates a member's segments again when its points cross one of these numbers. */
  watchThresholds(thresholds: number[]): void {
    if (!this.#isDeleted()) this.#ledger.watch(thresholds);
  }

  /** Publishes the top again if the account is part of it, because its name has changed or it has hidden it. */
  accountChanged(accountId: string): void {
    const { standings } = this.#ledger.page({ offset: 0 }, TOP);
    if (standings.some((standing) => standing.accountId === accountId)) this.#republish();
  }

  /** Publishes the top to the channels that the board has now. */
  changed(): void {
    if (!this.#isDeleted()) this.#republish();
  }

  /** Erases a deleted account; its points stay, without a name. */
  erase(accountId: string): void {
    if (this.#isDeleted()) return;
    this.#awardWatched();
    this.#ledger.erase(accountId);
    this.#republish();
  }

  /** Computes all ranks from the awards again. */
  rebuild(): void {
    this.#ledger.rebuild();
    this.#republish();
  }

  /** Deletes everything after the leaderboard is deleted; awards that arrive later are rejected. */
  async clear(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.ctx.storage.kv.put("deleted", true);
    this.#ledger = new Ledger(this.ctx.storage);
    this.#settlements = new Settlements(this.ctx.storage, this.#ledger);
    this.#watched = new WatchedMinutesStore(this.ctx.storage, this.#ledger);
    for (const work of WORK) this.#due[work] = Infinity;
    this.#alarmAt = null;
    await this.ctx.storage.deleteAlarm();
  }

  /** Does what is due. Safe to run at any time; failures are retried. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const now = Date.now();
    await this.#attempt("collect", now, async () => this.#awardWatched());
    await this.#attempt("settle", now, () => this.#settle());
    await this.#attempt("announce", now, () => this.#announce());
    await this.#attempt("notify", now, () => this.#notify(now));
    await this.#attempt("recheck", now, () => this.#recheck());
    this.#setAlarm();
  }

  async #attempt(work: Work, now: number, run: () => Promise<void>): Promise<void> {
    if (this.#due[work] > now) return;
    this.#due[work] = Infinity;
    try {
      await run();
      this.#failures[work] = 0;
    } catch (error) {
      logError(`leaderboard_${work}_failed`, error, { leaderboard: this.#id });
      this.#schedule(work, Date.now() + Math.min(RETRY_MS, NOTIFY_MS * 2 ** this.#failures[work]++));
    }
  }

  async #settle(): Promise<void> {
    for (let pages = 0; pages < PAGES; pages++) {
      const next = this.#settlements.next();
      if (!next) return;
      const responders = await readResponders(this.env, this.#siteId, next.settlement, next.reached, PAGE);
      this.#settlements.pay(next.settlement, responders);
      this.#notifySoon();
    }
    this.#schedule("settle", Date.now());
  }

  async #notify(now: number): Promise<void> {
    this.#notifiedAt = now;
    const { standings } = this.#ledger.page({ offset: 0 }, TOP);
    const ranks = JSON.stringify(standings);
    if (this.#isDeleted() || ranks === this.ctx.storage.kv.get<string>("published")) return;
    await publishTop(this.env, this.#siteId, this.#id, standings, now);
    this.ctx.storage.kv.put("published", ranks);
  }

  #awardWatched(): void {
    if (this.#watched.due === Infinity) return;
    this.#watched.award();
    this.#notifySoon();
  }

  /** Has the relays evaluate the segments of members whose points have crossed a threshold. */
  async #recheck(): Promise<void> {
    if (this.#isDeleted() || !this.#ledger.hasCrossed) return;
    this.#ledger.watch(await thresholdsOf(this.env, this.#siteId, this.#id));
    const { accountIds, upTo } = this.#ledger.crossed(RECHECKED);
    await recheckMembers(this.env, this.#siteId, accountIds);
    this.#ledger.forgetCrossed(upTo);
    if (this.#ledger.hasCrossed) this.#schedule("recheck", Date.now() + RECHECK_MS);
  }

  #announceLater(awards: NewAward[]): void {
    if (awards.length === 0) return;
    const known = this.ctx.storage.kv.get<Announcement>("announcement") ?? { eventId: newId(Date.now()), awards: 0, points: 0 };
    const points = awards.reduce((sum, award) => sum + award.points, known.points);
    this.ctx.storage.kv.put<Announcement>("announcement", { ...known, awards: known.awards + awards.length, points });
    this.#schedule("announce", Date.now() + ANNOUNCE_MS);
  }

  /** The event's id is stored before it is sent, so that the log takes it once. */
  async #announce(): Promise<void> {
    const { kv } = this.ctx.storage;
    const pending = kv.get<Announcement>("announcing") ?? kv.get<Announcement>("announcement");
    if (!pending || this.#isDeleted()) return;
    if (kv.get<Announcement>("announcing") === undefined) {
      kv.put("announcing", pending);
      kv.delete("announcement");
    }
    await announceAwards(this.env, this.#siteId, this.#id, pending);
    kv.delete("announcing");
    if (kv.get("announcement") !== undefined) this.#schedule("announce", Date.now() + ANNOUNCE_MS);
  }

  #isDeleted(): boolean {
    return this.ctx.storage.kv.get<boolean>("deleted") === true;
  }

  /** Notifies viewers although the ranks haven't changed. */
  #republish(): void {
    this.ctx.storage.kv.delete("published");
    this.#notifySoon();
  }

  #notifySoon(): void {
    this.#schedule("notify", Math.max(Date.now(), this.#notifiedAt + NOTIFY_MS));
    if (this.#ledger.hasCrossed) this.#schedule("recheck", Date.now() + RECHECK_MS);
  }

  #schedule(work: Work, at: number): void {
    this.#due[work] = Math.min(this.#due[work], at);
    this.#setAlarm();
  }

  /** Sets the alarm for what is due next. Never moves it later. */
  #setAlarm(): void {
    const due = Math.min(...Object.values(this.#due));
    if (due === Infinity || (this.#alarmAt !== null && this.#alarmAt <= due)) return;
    this.#alarmAt = due;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(Math.max(due, Date.now())));
  }
}

function isNew(outcome: AwardOutcome | undefined): boolean {
  return outcome !== undefined && outcome.ok && !outcome.repeated;
}
