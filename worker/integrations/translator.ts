import { z } from "@hono/zod-openapi";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { parseJson } from "#worker/lib/json.ts";
import { callOut } from "#worker/lib/network/outbound.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { workersAi } from "./workers-ai.ts";

const TIMEOUT_MS = 10_000;
const MODEL = "@cf/meta/m2m100-1.2b";
/** The model has no language detection. */
const DEFAULT_LANGUAGE = "en";

const Translated = z.object({ translatedText: z.array(z.string()) });
const ModelTranslation = z.object({ translated_text: z.string() });

/** A text and its language, if known. */
export interface SourceText {
  text: string;
  language: string | null;
}

/** Whether the deployment has a translator. */
export function hasTranslator(env: Env): boolean {
  return env.TIFO_TRANSLATE_URL !== "";
}

/**
 * Translates texts into one language. `TIFO_TRANSLATE_URL` is the `/translate` endpoint of a LibreTranslate server, or "workers-ai" for the
 * M2M100 model. Throws if it fails or takes longer than 10 s.
 */
export async function translate(env: Env, texts: SourceText[], target: string): Promise<string[]> {
  const base = (tag: string) => tag.split("-")[0] ?? tag;
  if (env.TIFO_TRANSLATE_URL === "workers-ai") {
    const ai = workersAi(env);
    const inputs = texts.map(({ text, language }) => ({
      text,
      source_lang: base(language ?? DEFAULT_LANGUAGE),
      target_lang: base(target),
    }));
    const translated = await withTimeout(Promise.all(inputs.map((input) => ai.run(MODEL, input))), TIMEOUT_MS);
    return translated.map((result) => ModelTranslation.parse(result).translated_text);
  }
  const key = optionalSecret(env, "TIFO_TRANSLATE_KEY");
  const body = {
    q: texts.map(({ text }) => text),
    source: "auto",
    target: base(target),
    format: "text",
    ...(key === undefined ? {} : { api_key: key }),
  };
  const response = await callOut(
    env,
    env.TIFO_TRANSLATE_URL,
    { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) },
    { timeout: TIMEOUT_MS },
  );
  if (response.status !== 200) throw new Error(`The translator returned ${response.status}`);
  const { translatedText } = Translated.parse(parseJson(response.text));
  if (translatedText.length !== texts.length) throw new Error("The translator returned another number of texts");
  return translatedText;
}
