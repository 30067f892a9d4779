/** An emoji with its name and keywords, separated by `|`. */
export type NamedEmoji = readonly [emoji: string, words: string];

export interface EmojiGroup {
  name: string;
  emoji: readonly NamedEmoji[];
}

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs. */
declare const TIFO_SDK_VERSION: string;

let loading: Promise<readonly EmojiGroup[]> | undefined;

/** Loads the emoji from the deployment, once. After a failure, the next picker tries again. */
export function loadEmoji(origin: string): Promise<readonly EmojiGroup[]> {
  loading ??= load(origin).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(origin: string): Promise<readonly EmojiGroup[]> {
  const response = await fetch(`${origin}/sdk/releases/${TIFO_SDK_VERSION}/emoji.json`);
  const list: unknown = response.ok ? await response.json() : null;
  if (!isList(list)) throw new Error("Tifo: the deployment has no list of emoji");
  return list;
}

/** The file is written by the same build, so only its form is checked. */
function isList(list: unknown): list is EmojiGroup[] {
  return Array.isArray(list) && list.every((group) => typeof group === "object" && group !== null && "name" in group && "emoji" in group);
}
