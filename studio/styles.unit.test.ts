import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "#scripts/lib/root.mjs";

/** The classes that a style sheet declares by themselves, not only within others. */
function classesOf(css: string): string[] {
  const selectors = css.replace(/\/\*[\s\S]*?\*\//g, "").match(/[^{}]+(?=\{)/g) ?? [];
  return selectors.flatMap((list) => list.split(",").flatMap((selector) => /^\s*\.([\w-]+)\s*$/.exec(selector)?.[1] ?? []));
}

// The style sheet of a screen stays in the page after the screen is left.
test("no class has a style of its own in two areas", () => {
  const areas = new Map<string, Set<string>>();
  for (const file of globSync("studio/**/*.css", { cwd: ROOT })) {
    const area = file.split("/")[1] ?? "";
    // Both are always loaded: the shell adjusts what it uses.
    const name = area === "app" ? "ui" : area;
    for (const className of classesOf(readFileSync(join(ROOT, file), "utf8")))
      areas.set(className, (areas.get(className) ?? new Set()).add(name));
  }
  expect(areas.size).toBeGreaterThan(100);
  expect([...areas].filter(([, names]) => names.size > 1).map(([className, names]) => `${className}: ${[...names].join(", ")}`)).toEqual(
    [],
  );
});
