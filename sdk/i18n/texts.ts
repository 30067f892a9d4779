import { type I18n, setupI18n } from "@lingui/core";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import { createStore, type Store } from "../core/store.ts";
import { chooseLanguage, type Choice, directionOf, ENGLISH, type SiteLanguages } from "./languages.ts";
import { loadMessages, type Messages } from "./load-messages.ts";

/** The values of a text's placeholders. */
export type Values = Record<string, string | number>;

/**
 * A text in the viewer's language, by the English one: `t("{count, plural, one {# vote} other {# votes}}", { count })`. What follows a `|`
 * tells apart equal English texts that other languages translate differently, and isn't shown.
 */
export type Translate = (english: string, values?: Values) => string;

/** The SDK's own texts in one language. What the site or the server wrote isn't translated. */
export interface Texts extends Choice {
  dir: "ltr" | "rtl";
  t: Translate;
}

/** The texts, which change once the language is known and loaded. */
export interface TextStore extends Pick<Store<Texts>, "subscribe" | "getSnapshot"> {
  /** Call when the site's languages are known; null if it has none. */
  followSite(site: SiteLanguages | null): void;
}

export const ENGLISH_TEXTS = textsIn(ENGLISH, {});

/** Starts in English. `language` is the host app's choice, which takes precedence. */
export function createTexts(origin: string, language: string | undefined, load = loadMessages): TextStore {
  const store = createStore(ENGLISH_TEXTS);
  let chosen: Choice = ENGLISH;

  async function change(next: Choice): Promise<void> {
    if (next.language === chosen.language && next.locale === chosen.locale) return;
    chosen = next;
    try {
      const messages = await load(origin, next.language);
      // Another one may have been chosen in the meantime.
      if (chosen === next) store.update(() => textsIn(next, messages));
    } catch (error) {
      console.warn(`Tifo: the texts in ${next.language} could not be loaded`, error);
      if (chosen === next) chosen = ENGLISH;
    }
  }

  if (language !== undefined) void change(chooseLanguage(language, null, []));
  return {
    subscribe: store.subscribe,
    getSnapshot: store.getSnapshot,
    followSite: (site) => void change(chooseLanguage(language, site, browserLanguages())),
  };
}

function browserLanguages(): readonly string[] {
  return typeof navigator === "undefined" ? [] : navigator.languages;
}

/** The texts with these translations; English ones where there is none. */
export function textsIn({ language, locale }: Choice, messages: Messages): Texts {
  const i18n = setupI18n({ locale, messages: { [locale]: {} } });
  const dir = directionOf(language);
  return { language, locale, dir, t: (english, values) => translate(i18n, messages, english, isolated(values, dir)) };
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Names and other texts keep their own direction within a text of the other one. */
function isolated(values: Values = {}, dir: Texts["dir"]): Values {
  const isolate = (value: string) => (dir === "rtl" || RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? isolate(value) : value]));
}

function translate(i18n: I18n, messages: Messages, english: string, values: Values | undefined): string {
  const text = messages[english] ?? english.split("|")[0] ?? english;
  if (typeof text === "string" && !text.includes("{")) return text;
  // Compiled once, when it is first shown.
  if (!(english in i18n.messages)) i18n.load(i18n.locale, { [english]: typeof text === "string" ? compileMessage(text) : text });
  return i18n._(english, values);
}
