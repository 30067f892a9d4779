import type { Language } from "./languages.ts";

/** A text as Lingui compiles it. */
type CompiledMessage = (string | [name: string, type?: string, format?: unknown])[];

/** Translations by the English text, in ICU message format; compiled in the script for plain pages, which has no parser. */
export type Messages = Readonly<Record<string, string | CompiledMessage>>;

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs. `TIFO_SCRIPT`: whether this is the script for plain pages. */
declare const TIFO_SDK_VERSION: string;
declare const TIFO_SCRIPT: boolean;

type Loader = () => Promise<{ messages: Messages }>;

// By the app's bundler, or null in the script for plain pages, which loads them from their own files of the release.
const importers: Record<Exclude<Language, "en">, Loader> | null =
  typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT
    ? null
    : {
        es: () => import("./messages/es.ts"),
        fr: () => import("./messages/fr.ts"),
        de: () => import("./messages/de.ts"),
        pt: () => import("./messages/pt.ts"),
        it: () => import("./messages/it.ts"),
        ar: () => import("./messages/ar.ts"),
      };

/** Loads a language. */
export async function loadMessages(origin: string, language: Language): Promise<Messages> {
  if (language === "en") return {};
  if (importers) return (await importers[language]()).messages;
  const address = `${origin}/sdk/releases/${TIFO_SDK_VERSION}/texts-${language}.js`;
  const file: unknown = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ address);
  if (!isMessages(file)) throw new Error(`Tifo: the deployment has no texts in ${language}`);
  return file.messages;
}

export function isMessages(file: unknown): file is { messages: Messages } {
  return typeof file === "object" && file !== null && "messages" in file;
}
