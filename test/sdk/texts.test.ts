import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test, vi } from "vitest";
import { compiledTexts } from "#scripts/lib/compiled-texts.ts";
import { createTexts, ENGLISH_TEXTS, textsIn } from "../../sdk/i18n/texts.ts";
import { chooseLanguage, LANGUAGES } from "../../sdk/i18n/languages.ts";
import { loadMessages, type Messages } from "../../sdk/i18n/load-messages.ts";
import { literalTexts, usedTexts } from "./texts.ts";

/** The part of the script that has the texts. */
interface Script {
  textsIn: typeof textsIn;
  messages: Messages;
}

function isScript(file: unknown): file is Script {
  return typeof file === "object" && file !== null && "textsIn" in file && "messages" in file;
}

const PLACEHOLDER = /\{(\w+)/g;
const placeholders = (text: string) => new Set([...text.matchAll(PLACEHOLDER)].map(([, name]) => name));

describe.each(LANGUAGES.filter((language) => language !== "en"))("the texts in %s", (language) => {
  test("are those that the SDK uses, each with the same placeholders", async () => {
    const messages = await loadMessages("https://tifo.test", language);
    const used = [...usedTexts()].sort();
    expect(Object.keys(messages).sort()).toEqual(used);
    const different = used.filter((text) => {
      const names = placeholders(text);
      return [...names].some((name) => /^[a-z]/.test(name ?? "") && !placeholders(String(messages[text])).has(name));
    });
    expect(different).toEqual([]);
  });

  test("can all be formatted, with every plural of the language", async () => {
    const messages = await loadMessages("https://tifo.test", language);
    const { t } = textsIn({ language, locale: language }, messages);
    const values = { ...Object.fromEntries(["name", "text", "reward", "emoji", "latest", "reason", "end"].map((name) => [name, "X"])) };
    for (const text of Object.keys(messages)) {
      for (const count of [0, 1, 2, 3, 11, 100]) {
        const shown = t(text, { ...values, count, seconds: count, current: count, required: count });
        expect(shown).not.toMatch(/[{}#]|undefined/);
      }
    }
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const plurals = Object.values(messages)
      .map(String)
      .filter((text) => text.includes(", plural,"));
    const needed = pluralCategories.filter((category) => category !== "many" || language === "ar");
    for (const text of plurals) for (const category of needed) expect(text).toContain(`${category} {`);
  });
});

test("the script for plain pages formats all texts alike, without a parser", async () => {
  const resolveDir = join(import.meta.dirname, "../../sdk/i18n");
  const stdin = { contents: 'export * from "./texts.ts"; export { messages } from "./messages/de.ts";', resolveDir };
  const { outputFiles } = await build({ stdin, bundle: true, format: "esm", target: "es2022", write: false, plugins: [compiledTexts] });
  const code = outputFiles[0]?.text ?? "";
  const script: unknown = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
  if (!isScript(script)) throw new Error("The script has no texts");
  expect(code).not.toContain("compileMessageOrThrow");
  const values = { name: "Vera", text: "X", reward: "X", emoji: "X", latest: "X", reason: "X", end: "X" };
  for (const { language, messages, own } of [
    { language: "en", messages: {}, own: {} },
    { language: "de", messages: script.messages, own: await loadMessages("https://tifo.test", "de") },
  ] as const)
    for (const text of usedTexts())
      for (const count of [0, 1, 2]) {
        const all = { ...values, count, seconds: count, current: count, required: count, min: 1, max: 2 };
        expect(script.textsIn({ language, locale: language }, messages).t(text, all)).toBe(
          textsIn({ language, locale: language }, own).t(text, all),
        );
      }
});

test("no text in the SDK's components is literal", () => {
  expect(literalTexts()).toEqual([]);
});

test("English needs no file, and hides what tells equal texts apart", () => {
  const { t, dir } = ENGLISH_TEXTS;
  expect([t("Open|poll"), t("{count, plural, one {# answer} other {# answers}}", { count: 1200 }), dir]).toEqual([
    "Open",
    "1,200 answers",
    "ltr",
  ]);
});

test("names keep their own direction in Arabic", async () => {
  const { t, dir } = textsIn({ language: "ar", locale: "ar" }, await loadMessages("https://tifo.test", "ar"));
  expect([dir, t("Reply to {name}", { name: "Vera" })]).toEqual(["rtl", "الرد على \u2068Vera\u2069"]);
});

test("names from right to left keep their direction in English, and others stay as they are", () => {
  const { t } = ENGLISH_TEXTS;
  expect([t("Reply to {name}", { name: "ليلى" }), t("Reply to {name}", { name: "Vera" })]).toEqual([
    "Reply to \u2068ليلى\u2069",
    "Reply to Vera",
  ]);
});

test("numbers are written as the viewer's locale does", async () => {
  const { t } = textsIn({ language: "de", locale: "de-CH" }, await loadMessages("https://tifo.test", "de"));
  expect(t("{count, plural, one {# answer} other {# answers}}", { count: 12000 })).toBe(`${(12000).toLocaleString("de-CH")} Antworten`);
});

describe("the language", () => {
  test.each<[string, Parameters<typeof chooseLanguage>, string]>([
    ["is the host app's option", ["pt-BR", { language: "de" }, ["fr"]], "pt-BR"],
    ["isn't one that the SDK doesn't have", ["nl", { language: "de" }, ["fr"]], "de"],
    ["is the viewer's among the site's", [undefined, { language: "en", languages: ["en", "es"] }, ["fr", "es-MX"]], "es-MX"],
    ["is the site's default otherwise", [undefined, { language: "de", languages: ["de", "es"] }, ["fr"]], "de"],
    ["is the site's first without a default", [undefined, { languages: ["it", "es"] }, ["fr"]], "it"],
    ["is the site's only one", [undefined, { language: "ar" }, ["fr"]], "ar"],
    ["is English on a site in a language that the SDK doesn't have", [undefined, { language: "nl" }, ["fr"]], "en"],
    ["is the browser's without any of these", [undefined, null, ["nl", "it-CH"]], "it-CH"],
    ["is English otherwise", [undefined, null, ["nl"]], "en"],
    ["is no invalid tag", ["de-!", null, []], "de"],
    ["is written as in the viewer's region", [undefined, { language: "en" }, ["fr", "en-GB"]], "en-GB"],
  ])("%s", (_name, [host, site, browser], locale) => {
    expect(chooseLanguage(host, site, browser).locale).toBe(locale);
  });

  test("stays English if its texts can't be loaded", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
    const load = vi.fn().mockRejectedValue(new Error("offline"));
    const texts = createTexts("https://tifo.test", "de", load);
    await vi.waitFor(() => expect(warn).toHaveBeenCalled());
    expect(texts.getSnapshot().language).toBe("en");
    load.mockResolvedValueOnce({ Done: "Fertig" });
    texts.followSite(null);
    await vi.waitFor(() => expect(texts.getSnapshot().t("Done")).toBe("Fertig"));
  });

  test("is the latest one, whichever is loaded first", async () => {
    const loads: ((messages: Record<string, string>) => void)[] = [];
    const texts = createTexts("https://tifo.test", undefined, () => new Promise((resolve) => loads.push(resolve)));
    texts.followSite({ language: "de" });
    texts.followSite({ language: "es" });
    loads[1]?.({ Done: "Hecho" });
    loads[0]?.({ Done: "Erledigt" });
    await vi.waitFor(() => expect(texts.getSnapshot().t("Done")).toBe("Hecho"));
    expect(texts.getSnapshot().language).toBe("es");
  });
});
