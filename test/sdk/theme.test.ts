import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contrast, formatColor, parseColor } from "#sdk/core/contrast.ts";
import { type Mode, themeVariables, type ThemeVariables } from "#sdk/core/theme.ts";
import type { EventTheme } from "#sdk/model/state.ts";

const theme = (changes: Partial<EventTheme> = {}): EventTheme => ({
  name: "Theme",
  type: "custom",
  mode: "light",
  colors: {},
  button: { borderRadius: "rounded", textCapitalization: "original" },
  typography: { body: "system-ui", headline: "system-ui" },
  logo: null,
  ...changes,
});
const color = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map(formatColor);
const at = (variables: ThemeVariables, name: keyof ThemeVariables) => parseColor(variables[name] ?? "#000000");

test("contrast is calculated as in WCAG", () => {
  expect(contrast(parseColor("#000"), parseColor("#ffffff"))).toBeCloseTo(21, 5);
  expect(contrast(parseColor("#767676"), parseColor("#fff"))).toBeCloseTo(4.54, 2);
});

describe("a theme", () => {
  test("sets no variables if it is absent", () => {
    expect(themeVariables(null, "light")).toEqual({});
  });

  test("keeps its colours if they are readable", () => {
    const night = theme({ mode: "dark", colors: { accent: "#7C6CFF", surface1: "#0B0B12", surface2: "#12121B", text100: "#FFFFFF" } });
    expect(themeVariables(night, "dark")).toMatchObject({
      "--tifo-accent": "#7c6cff",
      "--tifo-surface": "#0b0b12",
      "--tifo-raised": "#12121b",
      "--tifo-text": "#ffffff",
    });
  });

  test("for the other mode applies its accent and shapes, but not its surfaces", () => {
    const night = theme({ mode: "dark", colors: { accent: "#7C6CFF", surface1: "#0B0B12", text100: "#FFFFFF" } });
    const variables = themeVariables(night, "light");
    expect(variables).not.toHaveProperty("--tifo-surface");
    expect(variables).not.toHaveProperty("--tifo-text");
    expect(variables).toHaveProperty("--tifo-accent");
  });

  test("sets button shapes and fonts", () => {
    const square = theme({
      button: { borderRadius: "square", textCapitalization: "uppercase" },
      typography: { body: "Inter", headline: "Anton" },
    });
    expect(themeVariables(square, "light")).toEqual({
      "--tifo-button-radius": "0",
      "--tifo-radius": "0",
      "--tifo-button-case": "uppercase",
      "--tifo-font": "Inter",
      "--tifo-font-headline": "Anton",
    });
  });

  test.each<Mode>(["light", "dark"])("is readable in %s mode, whatever its colours are", (mode) => {
    const colors = fc.record({
      accent: color,
      surface1: color,
      surface2: fc.option(color, { nil: undefined }),
      text100: fc.option(color, { nil: undefined }),
      text200: fc.option(color, { nil: undefined }),
    });
    fc.assert(
      fc.property(colors, (given) => {
        const variables = themeVariables(theme({ mode, colors: given }), mode);
        const surface = at(variables, "--tifo-surface");
        const behind = [surface, at(variables, "--tifo-raised"), at(variables, "--tifo-tally")];
        for (const name of ["--tifo-text", "--tifo-quiet", "--tifo-accent-text"] as const)
          for (const background of behind) expect(contrast(at(variables, name), background)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(at(variables, "--tifo-on-accent"), at(variables, "--tifo-accent"))).toBeGreaterThanOrEqual(4.5);
        expect(contrast(at(variables, "--tifo-accent"), surface)).toBeGreaterThanOrEqual(3);
      }),
    );
  });
});
