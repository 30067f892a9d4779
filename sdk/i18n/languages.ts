/** The languages that the SDK has texts in. English is built in, the others are loaded when they are needed. */
export const LANGUAGES = ["en", "es", "fr", "de", "pt", "it", "ar"] as const;

export type Language = (typeof LANGUAGES)[number];

const RIGHT_TO_LEFT: ReadonlySet<Language> = new Set<Language>(["ar"]);

/** A language of the SDK, and the tag by which numbers and times are written. */
export interface Choice {
  language: Language;
  locale: string;
}

export const ENGLISH: Choice = { language: "en", locale: "en" };

/** The site's `settings.localization`. */
export interface SiteLanguages {
  language?: string | undefined;
  languages?: string[] | undefined;
}

export function directionOf(language: Language): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr";
}

/** The language of the host app's option, else of the site, else of the browser. */
export function chooseLanguage(host: string | undefined, site: SiteLanguages | null, browser: readonly string[]): Choice {
  const fromSite = site ? ofSite(site, browser) : undefined;
  const hasOwn = site?.language !== undefined || site?.languages !== undefined;
  return withRegion(firstOf([host]) ?? fromSite ?? (hasOwn ? undefined : firstOf(browser)) ?? ENGLISH, browser);
}

/** A choice without a region is written as in the viewer's own. */
function withRegion(choice: Choice, browser: readonly string[]): Choice {
  if (choice.locale !== choice.language) return choice;
  return { ...choice, locale: firstOf(browser.filter((tag) => baseOf(tag) === choice.language))?.locale ?? choice.locale };
}

/** The viewer's language if it is one of the site's, else the site's default. */
function ofSite({ language, languages }: SiteLanguages, browser: readonly string[]): Choice | undefined {
  const own = languages?.map(baseOf);
  return (own && firstOf(browser.filter((tag) => own.includes(baseOf(tag))))) ?? firstOf([language, ...(languages ?? [])]);
}

function firstOf(tags: readonly (string | undefined)[]): Choice | undefined {
  for (const tag of tags) {
    const language = LANGUAGES.find((each) => tag !== undefined && each === baseOf(tag));
    if (tag !== undefined && language) return { language, locale: isLocale(tag) ? tag : language };
  }
  return undefined;
}

function baseOf(tag: string): string {
  return tag.split("-")[0]?.toLowerCase() ?? "";
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
