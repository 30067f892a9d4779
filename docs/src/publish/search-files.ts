import { createHash } from "node:crypto";

/** What pages name as the file that the search box loads, until the build knows its content. */
export const UNNAMED_SEARCH_FILE = "search-index-unnamed.json";

/** The name of a search file, with a hash of its content: `search-index-api-1f2e3d4c.json`. */
export function searchFileName(content: string, context?: string): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 8);
  return `search-index-${context === undefined ? "" : `${context}-`}${hash}.json`;
}
