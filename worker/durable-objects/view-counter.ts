import { SiteObject } from "./site-object.ts";
import { countViews, type View } from "#worker/services/videos/views.ts";

/**
 * One per video: batches its views, so that thousands at kick-off cost the database a few sequential writes instead of thousands at once.
 * It stores nothing: calls resolve once the view is in the database, which knows who has been counted.
 */
export class ViewCounter extends SiteObject {
  #siteId = "";
  #waiting: View[] = [];
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** Resolves once the view is written, together with all views that arrived during the previous write. */
  async count(view: View, siteId: string): Promise<void> {
    this.#siteId = siteId;
    this.#waiting.push(view);
    this.#next ??= this.#writeNext();
    await this.#next;
  }

  async #writeNext(): Promise<void> {
    // A failed previous write only concerns its own callers.
    await this.#current?.catch(() => undefined);
    const views = this.#waiting;
    this.#waiting = [];
    this.#current = this.#next;
    this.#next = undefined;
    await countViews(this.env, this.#siteId, this.ctx.id.name ?? "", views);
  }
}
