import { expect, test } from "vitest";
import { CustomThemeInput, toTheme } from "#worker/services/themes/schemas.ts";
import { bodyOf, contrastWarnings, type Draft, draftOf, MAIN_COLORS, MORE_COLORS, NEW_THEME } from "./model.ts";

const row = { id: "1".repeat(24), siteId: "2".repeat(24), version: 1, created: 1, modified: 1 };
const stored = (draft: Draft) =>
  toTheme({ ...row, ...CustomThemeInput.omit({ siteId: true }).parse(bodyOf({ ...draft, name: "Club" }, "custom")) });

test("every colour that the API knows has a field, once", () => {
  const roles = [...MAIN_COLORS, ...MORE_COLORS].map(({ role }) => role);
  const known = Object.keys(CustomThemeInput.shape.colors.keyType.enum);
  expect(roles.toSorted()).toEqual(known.toSorted());
  expect(new Set([...MAIN_COLORS, ...MORE_COLORS].map(({ label }) => label)).size).toBe(roles.length);
});

test("a new theme is readable, and what is saved is what the editor shows", () => {
  expect([...contrastWarnings(NEW_THEME.colors)]).toEqual([]);
  expect(stored(NEW_THEME).warnings).toEqual([]);
  const draft = { ...NEW_THEME, name: "Club", logo: "https://x.example/logo.png", colors: { ...NEW_THEME.colors, text200: " " } };
  expect(draftOf(stored(draft))).toEqual({ ...draft, colors: { ...NEW_THEME.colors, text200: undefined } });
});

test("the editor warns of the same colours as the API", () => {
  const cases: Draft["colors"][] = [
    { accent: "#777777", text100: "#888888", surface1: "#999999" },
    { text100: "#fff", text200: "#eee", surface1: "#000", surface2: "#ffffff" },
    { accent: "#808080", surface1: "#fff" },
    { accent: "#ffffff", text500: "#ccc" },
    { text300: "#767676", surface4: "#fff" },
    { text300: "#777777", surface4: "#fff" },
  ];
  for (const colors of cases) {
    const paths = new Set(stored({ ...NEW_THEME, colors }).warnings.map(({ path }) => path));
    expect(new Set([...contrastWarnings(colors).keys()].map((role) => `colors.${role}`))).toEqual(paths);
  }
  expect(contrastWarnings({ text100: "#fff", text200: "#eee", surface1: "#000", surface2: "#ffffff" }).get("text200")).toBe(
    "1.16:1 on “Raised background”: text needs 4.5:1",
  );
  expect([...contrastWarnings({ text100: "white", surface1: "#ffffff" })]).toEqual([]);
});
