import { afterEach, expect, test, vi } from "vitest";
import { createStore } from "#sdk/core/store.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("a listener that throws is reported, and every other hears", () => {
  const reported = vi.fn();
  vi.stubGlobal("reportError", reported);
  const store = createStore(0);
  const failure = new Error("The host app's own");
  const heard = vi.fn();
  store.subscribe(() => {
    throw failure;
  });
  store.subscribe(heard);
  store.update((value) => value + 1);
  expect(heard).toHaveBeenCalledTimes(1);
  expect(reported).toHaveBeenCalledWith(failure);
});
