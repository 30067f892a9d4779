import type { PageStore, Place } from "./page-store.ts";

/** Events that are known in memory. Those beyond wait until there is room. */
const SIZE = 20_000;

interface Waiting extends Place {
  chars: number;
}

/** What may be taken at once. */
export interface Room {
  events: number;
  chars: number;
}

/** The pending events of pages by resource, in order: finding those to send must not depend on how many wait behind one that isn't accepted. */
export class DeliveryWindow {
  readonly #pages: PageStore;
  readonly #size: number;
  readonly #waiting = new Map<string, Waiting[]>();
  #loaded = 0;
  #count = 0;

  constructor(pages: PageStore, size = SIZE) {
    this.#pages = pages;
    this.#size = size;
  }

  /** Reads what was queued since, as far as there is room. */
  load(): void {
    while (this.#count < this.#size) {
      const pages = this.#pages.pendingAfter(this.#loaded);
      if (pages.length === 0) return;
      for (const { number, page, entry } of pages.flat()) {
        const queue = this.#waiting.get(entry.resource);
        if (queue) queue.push({ number, page, chars: entry.chars });
        else this.#waiting.set(entry.resource, [{ number, page, chars: entry.chars }]);
        this.#count++;
        this.#loaded = Math.max(this.#loaded, page);
      }
    }
  }

  /** Has to be called when pages were changed other than by `settle`. */
  forget(): void {
    this.#waiting.clear();
    this.#loaded = 0;
    this.#count = 0;
  }

  isFull(): boolean {
    return this.#count >= this.#size;
  }

  /** Resources with pending events; those that were chosen last come last. */
  resources(): string[] {
    return [...this.#waiting.keys()];
  }

  isFirst(resource: string, number: number): boolean {
    return this.#waiting.get(resource)?.[0]?.number === number;
  }

  isLast(resource: string, number: number): boolean {
    return this.#waiting.get(resource)?.at(-1)?.number === number;
  }

  /** The first events of these resources, a fair share for each, as far as they fit. */
  choose(resources: string[], { events, chars }: Room): Place[] {
    const chosen: Place[] = [];
    let room = chars;
    const queues = resources.slice(0, events).flatMap((resource) => {
      const queue = this.#waiting.get(resource) ?? [];
      this.#waiting.delete(resource);
      this.#waiting.set(resource, queue);
      return [queue];
    });
    const share = queues.length === 0 ? 0 : Math.floor(events / queues.length);
    for (let rank = 0; rank < share; rank++)
      for (const queue of queues) {
        const event = queue[rank];
        if (!event) continue;
        if (room <= 0) return chosen;
        room -= event.chars;
        chosen.push(event);
      }
    return chosen;
  }

  /** The first events of a resource. */
  of(resource: string, limit: number): Place[] {
    return (this.#waiting.get(resource) ?? []).slice(0, limit);
  }

  /** An event is no longer pending in its page. */
  settle(resource: string, number: number): void {
    const queue = this.#waiting.get(resource);
    const index = queue?.findIndex((event) => event.number === number) ?? -1;
    if (!queue || index < 0) return;
    queue.splice(index, 1);
    this.#count--;
    if (queue.length === 0) this.#waiting.delete(resource);
  }
}
