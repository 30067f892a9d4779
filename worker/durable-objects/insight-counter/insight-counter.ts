import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { writeDataPoints } from "#worker/integrations/analytics-engine.ts";
import { logError } from "#worker/lib/log.ts";
import { addImpressions, type CountedImpressions, hourOf } from "#worker/services/insights/rollup.ts";
import type { ImpressionReport } from "./insight-counter.protocol.ts";
import { PendingCounts } from "./pending-counts.ts";
import { MinuteBudget } from "./report-budget.ts";

/** Time between two writes to the database. */
const FLUSH_MS = 10_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Entries that count, per device and per network in a minute; the latter by weight, so that a weight multiplies nothing. */
const DEVICE_ENTRIES = 120;
const NETWORK_ENTRIES = 20_000;

/**
 * Counts what viewers of a site were shown and did. One of the site's counters, named `<siteId>:<k>`; each network reports to one of them.
 * Counts are stored here, and written to the database in groups.
 */
export class InsightCounter extends SiteObject {
  readonly #siteId: string;
  readonly #pending: PendingCounts;
  readonly #devices = new MinuteBudget(DEVICE_ENTRIES);
  readonly #networks = new MinuteBudget(NETWORK_ENTRIES);
  #failures = 0;
  #isAlarmSet = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#siteId = (ctx.id.name ?? "").split(":")[0] ?? "";
    this.#pending = new PendingCounts(ctx.storage);
  }

  /** Counts a report as far as its device and network have budget left. The rest is dropped. */
  async count({ channelId, weight, entries, network, device }: ImpressionReport): Promise<void> {
    const now = Date.now();
    const ofDevice = this.#devices.take(device, entries.length, 1, now);
    const counted = this.#networks.take(network, ofDevice, weight, now);
    if (counted === 0) return;
    const hour = hourOf(now);
    const rows = entries
      .slice(0, counted)
      .map(({ kind, id, broadcastId = "" }) => ({ channelId, hour, kind, targetId: id, broadcastId, value: weight }));
    this.#pending.add(rows, network);
    await this.#wakeIn(FLUSH_MS);
  }

  /** Writes what has been counted. Safe to run at any time: a flush that is written twice counts once. */
  override async alarm(): Promise<void> {
    this.#isAlarmSet = false;
    const taken = this.#pending.take();
    if (!taken) return;
    try {
      await addImpressions(this.env, this.#siteId, `impressions:${this.ctx.id.name}`, taken.flush, taken.rows);
    } catch (error) {
      logError("insights_flush_failed", error, { siteId: this.#siteId });
      return this.#wakeIn(Math.min(MAX_RETRY_MS, FLUSH_MS * 2 ** this.#failures++));
    }
    this.#failures = 0;
    this.#pending.written(taken.flush);
    const labelsOf = ({ channelId, kind, targetId, broadcastId }: CountedImpressions) => [channelId, kind, targetId, broadcastId];
    writeDataPoints(
      this.env,
      this.#siteId,
      taken.rows.map((row) => ({ labels: labelsOf(row), value: row.value })),
    );
    if (!this.#pending.isEmpty) await this.#wakeIn(FLUSH_MS);
  }

  async #wakeIn(delay: number): Promise<void> {
    if (this.#isAlarmSet) return;
    this.#isAlarmSet = true;
    await this.ctx.storage.setAlarm(Date.now() + delay);
  }
}
