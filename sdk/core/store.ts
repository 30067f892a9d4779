import { safely } from "../channel/report.ts";

/** An observable value that works with React's `useSyncExternalStore`. */
export interface Store<T> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => T;
  /** Listeners are called only if the value changed. */
  update(change: (value: T) => T): void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => value,
    update(change) {
      const next = change(value);
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) safely(listener);
    },
  };
}
