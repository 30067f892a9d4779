import { z } from "@hono/zod-openapi";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { parseJson } from "#worker/lib/json.ts";
import { callOut } from "#worker/lib/network/outbound.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { workersAi } from "./workers-ai.ts";

const TIMEOUT_MS = 10_000;
// Fifty messages of maximum length, with every character escaped.
const MAX_BYTES = 1024 * 1024;
/** Longer translations are dropped: a message has at most 500 characters. */
const MAX_LENGTH = 4_000;
const MODEL = "@cf/meta/m2m100-1.2b";
/** Calls of the model at a time; a request may have six open connections. */
const CONCURRENCY = 6;
/** What the model, which detects no languages, assumes of texts in an unknown one. */
const DEFAULT_LANGUAGE = "en";

const Detected = z.object({ language: z.string().max(35) });
const Translations = z.object({ translatedText: z.array(z.string()), detectedLanguage: z.array(Detected).optional().catch(undefined) });
const ModelTranslation = z.object({ translated_text: z.string() });

/** A text and its language, if known. */
export interface SourceText {
  text: string;
  language: string | null;
}

export interface TranslatedText {
  text: string;
  /** The language in which the service says the source is written, or null. */
  detected: string | null;
}

/** Whether the deployment has a translation service. */
export function hasTranslation(env: Env): boolean {
  return env.TIFO_TRANSLATE_URL !== "";
}

/**
 * Translates texts into one language; undefined for a text that is already in it or whose translation is unusable. `TIFO_TRANSLATE_URL` is
 * the `/translate` endpoint of a LibreTranslate server, or "workers-ai" for the M2M100 model. Throws if the service fails or takes over 10 s.
 */
export async function translateTexts(env: Env, texts: SourceText[], target: string): Promise<(TranslatedText | undefined)[]> {
  const translate = env.TIFO_TRANSLATE_URL === "workers-ai" ? translateByModel : translateByService;
  const translated = await translate(env, texts, baseLanguage(target));
  return translated.map((translation) => (translation && isUsable(translation, target) ? translation : undefined));
}

function isUsable({ text, detected }: TranslatedText, target: string): boolean {
  const isForeign = detected === null || baseLanguage(detected) !== baseLanguage(target);
  return isForeign && text.trim() !== "" && text.length <= MAX_LENGTH;
}

/** One call for all texts. The sender's language is only a preference, so the service detects the text's. */
async function translateByService(env: Env, texts: SourceText[], target: string): Promise<TranslatedText[]> {
  const key = optionalSecret(env, "TIFO_TRANSLATE_KEY");
  const q = texts.map(({ text }) => text);
  const body = JSON.stringify({ q, source: "auto", target, format: "text", ...(key === undefined ? {} : { api_key: key }) });
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const response = await callOut(env, env.TIFO_TRANSLATE_URL, init, { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES });
  if (response.status !== 200) throw new Error(`The translation service returned ${response.status}`);
  const { data } = Translations.safeParse(parseJson(response.text));
  if (data?.translatedText.length !== texts.length) throw new Error("The translation service returned no list of as many texts");
  return data.translatedText.map((text, index) => ({ text, detected: data.detectedLanguage?.[index]?.language ?? null }));
}

/** One call per text. A failed one costs only its own translation, unless all fail. */
async function translateByModel(env: Env, texts: SourceText[], target: string): Promise<(TranslatedText | undefined)[]> {
  const ai = workersAi(env);
  const deadline = Date.now() + TIMEOUT_MS;
  const translated = texts.map((): TranslatedText | undefined => undefined);
  const errors: unknown[] = [];
  // The workers share the iterator, so each text goes to one of them.
  const remaining = texts.entries();
  const work = async (): Promise<void> => {
    for (const [index, { text, language }] of remaining) {
      const source = baseLanguage(language ?? DEFAULT_LANGUAGE);
      if (source === target) continue;
      try {
        const left = Math.max(0, deadline - Date.now());
        const result = await withTimeout(ai.run(MODEL, { text, source_lang: source, target_lang: target }), left);
        translated[index] = { text: ModelTranslation.parse(result).translated_text, detected: null };
      } catch (error) {
        errors.push(error);
        if (Date.now() >= deadline) return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, texts.length) }, work));
  if (errors.length > 0 && translated.every((translation) => translation === undefined)) throw errors[0];
  return translated;
}

/** "pt" of "pt-BR": the services name most languages without a region. */
function baseLanguage(tag: string): string {
  return (tag.split("-")[0] ?? tag).toLowerCase();
}
