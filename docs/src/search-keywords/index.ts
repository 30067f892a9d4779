import { CONCEPTS } from "./concepts.ts";
import { GENERAL } from "./general.ts";
import { GUIDES } from "./guides.ts";
import { OPERATIONS } from "./operations.ts";
import { SHOW_OPERATIONS } from "./operations-show.ts";
import { SDK } from "./sdk.ts";

/** Phrases by which readers look for a page that doesn't contain them, or not prominently. Only the search files have them: pages stay light. */
const KEYWORDS = new Map<string, string>([
  ...[GENERAL, CONCEPTS, GUIDES, SDK].flatMap((area) => Object.entries(area)),
  ...Object.entries({ ...OPERATIONS, ...SHOW_OPERATIONS }).map(([id, phrases]): [string, string] => [`/docs/api-reference/${id}`, phrases]),
]);

/** A page's keywords, separated by commas. */
export function keywordsOf(path: string): string | undefined {
  return KEYWORDS.get(path);
}

/** The paths that have keywords. */
export const PATHS_WITH_KEYWORDS: readonly string[] = [...KEYWORDS.keys()];
