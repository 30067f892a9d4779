import { SiteObject } from "./site-object.ts";
import { logError } from "#worker/lib/log.ts";
import { runDueRundowns } from "#worker/services/rundowns/due.ts";
import { runDueActions } from "#worker/services/schedule/run.ts";

/** When the object tries again after it could not even read what is due. */
const RETRY_MS = 1_000;

/**
 * Runs a site's scheduled actions and the timed items of its rundowns, named by the site. It stores nothing but its alarm: the actions are
 * rows of the database, and each is marked as done in the batch that does it, so that it runs once whatever is interrupted or repeated.
 */
export class Scheduler extends SiteObject {
  /** Makes sure that actions are run at this time (ms), or earlier. */
  async wake(at: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || at < alarm) await this.ctx.storage.setAlarm(Math.max(at, Date.now()));
  }

  /** Runs what is due. Safe to run at any time. */
  override async alarm(): Promise<void> {
    const siteId = this.ctx.id.name ?? "";
    try {
      const now = Date.now();
      for (const { next, finish } of await Promise.all([runDueActions(this.env, siteId, now), runDueRundowns(this.env, siteId, now)])) {
        this.ctx.waitUntil(finish);
        if (next !== null) await this.wake(next);
      }
    } catch (error) {
      logError("schedule_not_run", error, { siteId });
      await this.wake(Date.now() + RETRY_MS);
    }
  }
}
