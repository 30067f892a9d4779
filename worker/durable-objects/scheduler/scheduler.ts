import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { logError } from "#worker/lib/log.ts";
import { RequestLog } from "./request-log.ts";
import { type RequestBatch, type RequestPage, type RequestQuery, REQUESTS_KEPT_MS } from "./request-log.protocol.ts";

/** When the object tries again after it could not even read what is due. */
const RETRY_MS = 1_000;

/**
 * Runs a site's scheduled actions and the timed items of its rundowns, named by the site. It stores only its alarm for them: the actions are
 * rows of the database, and each is marked as done in the batch that does it, so that it runs once whatever is interrupted or repeated.
 * It also has the site's request log, because no other object of a site has less to do during a show.
 */
export class Scheduler extends SiteObject {
  readonly #requests: RequestLog;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#requests = new RequestLog(ctx.storage);
  }

  /** Makes sure that actions are run at this time (ms), or earlier. */
  async wake(at: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || at < alarm) await this.ctx.storage.setAlarm(Math.max(at, Date.now()));
  }

  /** Stores requests that an isolate has served; returns how long it should collect before the next batch, ms. */
  async recordRequests(batch: RequestBatch): Promise<number> {
    const now = Date.now();
    const waitMs = this.#requests.add(batch, now);
    await this.wake(now + REQUESTS_KEPT_MS);
    return waitMs;
  }

  /** A page of the requests of the last hour, the newest first. */
  requests(query: RequestQuery): RequestPage {
    return this.#requests.page(query, Date.now());
  }

  /** Runs what is due. Safe to run at any time. */
  override async alarm(): Promise<void> {
    const expiry = this.#requests.expire(Date.now());
    if (expiry !== null) await this.wake(expiry);
    await this.#runDue(this.ctx.id.name ?? "");
  }

  async #runDue(siteId: string): Promise<void> {
    try {
      const { runDueRundowns } = await import("#worker/services/rundowns/due.ts");
      const { runDueActions } = await import("#worker/services/schedule/run.ts");
      const now = Date.now();
      const runs = await Promise.all([runDueActions(this.env, siteId, now), runDueRundowns(this.env, siteId, now)]);
      // A run before may have been interrupted after its commit, which left nothing that is due.
      if (runs.every(({ found }) => found === 0)) {
        this.ctx.waitUntil(
          siteLogOf(this.env, siteId)
            .nudge()
            .catch(() => undefined),
        );
      }
      for (const { next, finish } of runs) {
        this.ctx.waitUntil(finish);
        if (next !== null) await this.wake(next);
      }
    } catch (error) {
      logError("schedule_not_run", error, { siteId });
      await this.wake(Date.now() + RETRY_MS);
    }
  }
}
