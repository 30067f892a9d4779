import { describe, expect, test } from "vitest";
import { bindingProblem, commandOf, COMMANDS, DEFAULT_BINDINGS, keyName, type Press, storeBindings, storedBindings } from "./keys.ts";

const press = (key: string, held: Partial<Press> = {}): Press => ({
  key,
  ctrlKey: false,
  altKey: false,
  shiftKey: false,
  metaKey: false,
  ...held,
});

function memory(stored?: string) {
  const values = new Map(stored === undefined ? [] : [["tifo.studio.run.keys", stored]]);
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

describe("a key", () => {
  test.each([
    [press(" "), "Space"],
    [press("c"), "C"],
    [press("C", { shiftKey: true }), "Shift+C"],
    [press("!", { shiftKey: true }), "!"],
    [press("F5", { shiftKey: true, ctrlKey: true }), "Ctrl+Shift+F5"],
    [press("Shift", { shiftKey: true }), null],
  ])("%j is called %s", (pressed, name) => {
    expect(keyName(pressed)).toBe(name);
  });

  test("runs its command only with the modifiers that belong to it", () => {
    expect(commandOf(DEFAULT_BINDINGS, press(" "))).toBe("take");
    expect(commandOf(DEFAULT_BINDINGS, press("c"))).toBe("clear");
    expect(commandOf(DEFAULT_BINDINGS, press("C", { shiftKey: true }))).toBe("clearAll");
    expect(commandOf(DEFAULT_BINDINGS, press("c", { ctrlKey: true }))).toBeUndefined();
    expect(commandOf(DEFAULT_BINDINGS, press("x"))).toBeUndefined();
  });
});

describe("the keys of a browser", () => {
  test("are kept, and are the defaults without any", () => {
    const storage = memory();
    expect(storedBindings(storage)).toEqual(DEFAULT_BINDINGS);
    storeBindings(storage, { ...DEFAULT_BINDINGS, take: "F5" });
    expect(storedBindings(storage)).toEqual({ ...DEFAULT_BINDINGS, take: "F5" });
    storeBindings(storage, null);
    expect(storedBindings(storage)).toEqual(DEFAULT_BINDINGS);
  });

  test("are the defaults where what is stored makes no sense, or one key would do two things", () => {
    for (const text of ["{", "[]", "7", '{"take":5}', '{"take":"N"}']) expect(storedBindings(memory(text)), text).toEqual(DEFAULT_BINDINGS);
  });

  test("can't be those of another command, nor those that move the focus", () => {
    expect(bindingProblem(DEFAULT_BINDINGS, "take", "N")).toContain("Next");
    expect(bindingProblem(DEFAULT_BINDINGS, "take", "Tab")).toContain("Tab");
    expect(COMMANDS.map((command) => bindingProblem(DEFAULT_BINDINGS, command, DEFAULT_BINDINGS[command]))).toEqual(
      COMMANDS.map(() => undefined),
    );
  });
});
