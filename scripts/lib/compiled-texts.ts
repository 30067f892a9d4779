import { compileMessage } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "esbuild";
import { messages as german } from "#sdk/i18n/messages/de.ts";
import { isMessages, type Messages } from "#sdk/i18n/load-messages.ts";

/** A text that is compiled at build time: in place of `@lingui/message-utils/compileMessage`, which has a parser of 7 kB. */
const NAMESPACE = "compiled-texts";

/** Compiles the SDK's texts with placeholders: those of a language in its file, and the English ones, which have none. */
export const compiledTexts: Plugin = {
  name: NAMESPACE,
  setup(bundle) {
    bundle.onResolve({ filter: /^@lingui\/message-utils\/compileMessage$/ }, () => ({ path: "english", namespace: NAMESPACE }));
    bundle.onLoad({ filter: /^english$/, namespace: NAMESPACE }, () => ({ contents: englishModule() }));
    bundle.onLoad({ filter: /\/i18n\/messages\/\w+\.ts$/ }, async ({ path }) => {
      const { messages } = await messagesOf(path);
      return { contents: `export const messages = ${JSON.stringify(compiled(Object.entries(messages)))}` };
    });
  },
};

/** Every language's texts are by the English ones. */
function englishModule(): string {
  const texts = Object.keys(german).map((english) => english.split("|")[0] ?? english);
  const withPlaceholders = [...new Set(texts)].filter((text) => text.includes("{")).map((text): [string, string] => [text, text]);
  return `const texts = ${JSON.stringify(compiled(withPlaceholders))}; export const compileMessage = (text) => texts[text];`;
}

function compiled(texts: [english: string, text: Messages[string]][]): Messages {
  return Object.fromEntries(
    texts.map(([english, text]) => [english, typeof text === "string" && text.includes("{") ? compileMessage(text) : text]),
  );
}

async function messagesOf(path: string): Promise<{ messages: Messages }> {
  const file: unknown = await import(path);
  if (!isMessages(file)) throw new Error(`${path} has no messages`);
  return file;
}
