import { vi } from "vitest";
import { siteStore } from "./site-store.ts";

interface NextBatch {
  /** Whether it has come. */
  readonly isOver: boolean;
  restore(): void;
}

/**
 * Does something before or after the next batch that mentions a text, such as an id or a table. Other batches run as always: requests
 * that are over may still have effects in the background, which a mock of the next call would hit.
 */
export function atNextBatch(text: string, { before, after }: { before?: () => unknown; after?: () => unknown }): NextBatch {
  const batch = siteStore.batch.bind(siteStore);
  let isOver = false;
  const spy = vi.spyOn(siteStore, "batch").mockImplementation(async <T>(statements: D1PreparedStatement[]) => {
    if (isOver || !statements.some((statement) => mentions(statement, text))) return batch<T>(statements);
    isOver = true;
    await before?.();
    const results = await batch<T>(statements);
    await after?.();
    return results;
  });
  return {
    get isOver() {
      return isOver;
    },
    restore: () => spy.mockRestore(),
  };
}

/** Rejects the next batch that mentions a text with an error of this message, instead of running it. */
export function failNextBatch(text: string, message: string): NextBatch {
  return atNextBatch(text, {
    before() {
      throw new Error(message);
    },
  });
}

/** Whether the SQL or the parameters of a statement contain a text. */
export function mentions(statement: D1PreparedStatement, text: string): boolean {
  return JSON.stringify(Object.entries(statement)).includes(text);
}
