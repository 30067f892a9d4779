import keywords from "emojilib" with { type: "json" };
import groups from "unicode-emoji-json/data-by-group.json" with { type: "json" };
import type { EmojiGroup } from "#sdk/react/chat/load-emoji.ts";

// Newer emoji are missing from the fonts of many devices.
const LATEST_VERSION = 15;
/** The first keyword repeats the name. */
const MAX_KEYWORDS = 6;

/** Unicode's emoji by group, each with its name and keywords, for the picker of the SDK's chat. */
export function emojiGroups(): EmojiGroup[] {
  const words: Record<string, string[]> = keywords;
  return groups.map(({ name, emojis }) => ({
    name,
    emoji: emojis
      .filter(({ emoji_version }) => Number(emoji_version) <= LATEST_VERSION)
      .map(
        ({ emoji, name: label }) =>
          [emoji, [label, ...(words[emoji] ?? []).slice(1, MAX_KEYWORDS + 1).map(plain)].join("|").toLowerCase()] as const,
      ),
  }));
}

function plain(keyword: string): string {
  return keyword.replaceAll("_", " ");
}
