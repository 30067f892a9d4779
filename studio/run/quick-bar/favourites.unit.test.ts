import { expect, test } from "vitest";
import { storedFavourites, storeFavourites, toggled } from "./favourites.ts";

function storage() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

test("each channel has its own quick bar", () => {
  const stored = storage();
  storeFavourites(stored, "one", ["a", "b"]);
  expect([storedFavourites(stored, "one"), storedFavourites(stored, "two")]).toEqual([["a", "b"], []]);
});

test("what another version has stored, or somebody has broken, is an empty quick bar", () => {
  const stored = storage();
  for (const value of ["{", '{"a":1}', "7"]) {
    stored.setItem("tifo.studio.run.favourites.one", value);
    expect(storedFavourites(stored, "one")).toEqual([]);
  }
});

test("an overlay is added to the quick bar once, and taken off again", () => {
  expect(toggled(toggled([], "a"), "b")).toEqual(["a", "b"]);
  expect(toggled(["a", "b"], "a")).toEqual(["b"]);
  expect(
    toggled(
      Array.from({ length: 12 }, (_, index) => String(index)),
      "new",
    ),
  ).toHaveLength(12);
});
