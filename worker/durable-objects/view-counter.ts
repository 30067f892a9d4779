import { DurableObject } from "cloudflare:workers";
import { countViews, type View } from "#worker/services/videos/views.ts";

/**
 * One per video: gathers its views, so that thousands at kick-off cost the database one write after the other and not thousands at once.
 * It keeps nothing itself: whoever asks is answered once the view is in the database, which alone knows who was counted.
 */
export class ViewCounter extends DurableObject<Env> {
  #waiting: View[] = [];
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** Resolves once the view is written: together with all that came while the write before was under way. */
  async count(view: View): Promise<void> {
    this.#waiting.push(view);
    this.#next ??= this.#writeNext();
    await this.#next;
  }

  async #writeNext(): Promise<void> {
    // Whether the write before has failed is for those who wait for it.
    await this.#current?.catch(() => undefined);
    const views = this.#waiting;
    this.#waiting = [];
    this.#current = this.#next;
    this.#next = undefined;
    await countViews(this.env, this.ctx.id.name ?? "", views);
  }
}
