import { expect, test, vi } from "vitest";
import { createStore } from "#sdk/core/store.ts";

test("a listener that throws is reported, and all others are still called", () => {
  const reported = vi.fn();
  vi.stubGlobal("reportError", reported);
  const store = createStore(0);
  const failure = new Error("from the host app");
  const listener = vi.fn();
  store.subscribe(() => {
    throw failure;
  });
  store.subscribe(listener);
  store.update((value) => value + 1);
  expect(listener).toHaveBeenCalledTimes(1);
  expect(reported).toHaveBeenCalledWith(failure);
});
