import { hasTranslation, translateTexts } from "#worker/integrations/translation.ts";
import { logError } from "#worker/lib/log.ts";
import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import { languageOf } from "#worker/services/chat/message-view.ts";
import type { Draft } from "./message-store.ts";

/** Messages in one call; a room with more at a time leaves the oldest untranslated. */
const AT_ONCE = 50;

type Untranslated = Pick<Draft, "id" | "text" | "language">;

export interface Translation {
  id: string;
  language: string;
  text: string;
}

/** Translates a room's messages after they were sent, once per message and language. Nothing waits for it. */
export class RoomTranslator {
  readonly #env: Env;
  readonly #languages: () => string[];
  readonly #onTranslated: (translations: Translation[]) => void;
  readonly #runner = new CoalescedRunner(() => this.#translate());
  #waiting: Untranslated[] = [];

  /** `languages`: those that the room's viewers need at the moment. */
  constructor(env: Env, languages: () => string[], onTranslated: (translations: Translation[]) => void) {
    this.#env = env;
    this.#languages = languages;
    this.#onTranslated = onTranslated;
  }

  add({ id, text, language }: Untranslated): void {
    if (!hasTranslation(this.#env) || this.#languages().length === 0) return;
    this.#waiting.push({ id, text, language });
    // Failures are logged below.
    void this.#runner.run();
  }

  async #translate(): Promise<void> {
    const messages = this.#waiting.slice(-AT_ONCE);
    this.#waiting = [];
    const translated = await Promise.all(this.#languages().map((language) => this.#translateInto(language, messages)));
    if (translated.some((list) => list.length > 0)) this.#onTranslated(translated.flat());
  }

  async #translateInto(language: string, messages: Untranslated[]): Promise<Translation[]> {
    const foreign = messages.filter((message) => languageOf([language], message.language) === undefined);
    if (foreign.length === 0) return [];
    try {
      const translated = await translateTexts(this.#env, foreign, language);
      return foreign.flatMap(({ id }, index) => (translated[index] ? [{ id, language, text: translated[index].text }] : []));
    } catch (error) {
      logError("chat_translation_failed", error, { language });
      return [];
    }
  }
}
