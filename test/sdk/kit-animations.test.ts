import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { stylesOf } from "#docs/src/components/overlay-gallery/static-piece.tsx";
import { KIT_TEMPLATES } from "#worker/lib/schemas/overlay-kit/kit.ts";

// What a browser can animate without a layout or a painting of its own: 20 overlays a second must not cost a frame.
const CHEAP = new Set(["transform", "translate", "opacity"]);
const TIMING = new Set(["animation-timing-function", "animation-composition"]);

/** Everything that rules animate and that isn't cheap, as "where: property". */
function costlyIn(css: string): string[] {
  const rules = css.replace(/\/\*.*?\*\//gs, "");
  return [...costlyKeyframes(rules), ...costlyTransitions(rules), ...unknownAnimations(rules)];
}

function costlyKeyframes(css: string): string[] {
  return [...css.matchAll(/@keyframes\s+([\w-]+)\s*\{((?:[^{}]*\{[^{}]*\})*)\s*\}/g)].flatMap(([, name = "", frames = ""]) =>
    [...frames.matchAll(/\{([^{}]*)\}/g)]
      .flatMap(([, declarations = ""]) => declarations.split(";"))
      .map((declaration) => declaration.split(":")[0]?.trim() ?? "")
      .filter((property) => property !== "" && !CHEAP.has(property) && !TIMING.has(property))
      .map((property) => `@keyframes ${name}: ${property}`),
  );
}

function costlyTransitions(css: string): string[] {
  return [...css.matchAll(/(?<![\w-])transition(-property)?\s*:\s*([^;}]+)/g)].flatMap(([, , list = ""]) =>
    // A timing function has commas of its own.
    list
      .replace(/\([^()]*\)/g, "")
      .split(",")
      .map((item) => item.replace("!important", "").trim().split(/\s+/)[0] ?? "")
      .filter((property) => property !== "none" && !CHEAP.has(property))
      .map((property) => `transition: ${property}`),
  );
}

/** Animations whose keyframes aren't among the rules, and so weren't checked. All names start with `tk-` or `tifo-`. */
function unknownAnimations(css: string): string[] {
  const known = new Set([...css.matchAll(/@keyframes\s+([\w-]+)/g)].map(([, name]) => name));
  return [...css.matchAll(/(?<![\w-])animation(?:-name)?\s*:\s*([^;}]+)/g)]
    .flatMap(([, list = ""]) => [...list.matchAll(/(?<![\w-])(?:tk|tifo)-[a-z-]+/g)].map(([name]) => name))
    .filter((name) => !known.has(name))
    .map((name) => `animation: ${name}`);
}

describe("the check itself", () => {
  test.each([
    ["a { transition: width 1s }", "transition: width"],
    ["a { transition: 300ms }", "transition: 300ms"],
    ["a { transition: all 1s }", "transition: all"],
    ["a { transition: opacity 1s cubic-bezier(0, 1, 0, 1), height 1s }", "transition: height"],
    ["a { transition-property: box-shadow }", "transition: box-shadow"],
    ["@keyframes tk-x { from { opacity: 0; top: 1px } to { left: 0 } }", "@keyframes tk-x: top"],
    ["a { animation: tk-elsewhere 1s both }", "animation: tk-elsewhere"],
  ])("finds what is costly in %s", (css, found) => {
    expect(costlyIn(css)).toContain(found);
  });

  test("accepts transforms and opacity", () => {
    expect(
      costlyIn(
        "a { transition: transform 600ms var(--ease), opacity 1s; animation: tk-in 1s both } @keyframes tk-in { from { opacity: 0; transform: scaleX(0); } }",
      ),
    ).toEqual([]);
  });
});

describe("overlays", () => {
  test.each(KIT_TEMPLATES)("of the kit's %s animate only transforms and opacity", (name) => {
    const css = stylesOf(name);
    expect(css).toContain(`.tk-${name}`);
    expect(costlyIn(css)).toEqual([]);
  });

  test("of every kind are moved and shown with transforms and opacity", () => {
    const shared = readFileSync("sdk/styles/tifo.css", "utf8");
    const keyframes = [...shared.matchAll(/@keyframes[^{]+\{(?:[^{}]*\{[^{}]*\})*\s*\}/g)].map(([rule]) => rule).join("\n");
    expect(costlyIn(`${keyframes}\n${readFileSync("sdk/styles/overlays.css", "utf8")}`)).toEqual([]);
  });

  test("start no animation by script, and none in their markup", () => {
    const sources = globSync("sdk/{overlay,react/overlay,output}/**/*.{ts,tsx}");
    expect(sources.length).toBeGreaterThan(20);
    for (const file of sources) {
      const source = readFileSync(file, "utf8");
      expect(source, file).not.toMatch(/\.animate\(|KeyframeEffect|startViewTransition|<animate|style=\{\{[^}]*(transition|animation)/);
      for (const [, value] of source.matchAll(/\.transition(?:Property)? = (.+);/g))
        expect(value, file).toBe('moves ? "translate" : "none"');
    }
  });
});
