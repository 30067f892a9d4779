interface Group<Item, Result> {
  items: Item[];
  result: Promise<Result>;
}

/** Makes one call for many: the first starts at once, and those that arrive during it, or within `restMs` of its start, share the next. */
export class GroupedCalls<Item, Result> {
  readonly #call: (items: Item[]) => Promise<Result>;
  readonly #restMs: number;
  #running: Promise<unknown> = Promise.resolve();
  #startedAt = -Infinity;
  #next: Group<Item, Result> | null = null;

  constructor(call: (items: Item[]) => Promise<Result>, restMs = 0) {
    this.#call = call;
    this.#restMs = restMs;
  }

  /** The result of the call that includes this item. */
  add(item: Item): Promise<Result> {
    this.#next ??= this.#open();
    this.#next.items.push(item);
    return this.#next.result;
  }

  #open(): Group<Item, Result> {
    const items: Item[] = [];
    const result = this.#running.then(async () => {
      const rest = this.#startedAt + this.#restMs - Date.now();
      // A clock that has been set back mustn't stop all calls.
      if (rest > 0 && rest <= this.#restMs) await new Promise((resolve) => setTimeout(resolve, rest));
      this.#next = null;
      this.#startedAt = Date.now();
      return this.#call(items);
    });
    this.#running = result.catch(() => undefined);
    return { items, result };
  }
}
