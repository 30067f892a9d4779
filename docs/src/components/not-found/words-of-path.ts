/** What a reader may have looked for at a path that doesn't exist: the words of its last segment. */
export function wordsOfPath(path: string): string {
  const last = path.split("/").findLast((segment) => segment !== "") ?? "";
  return decoded(last)
    .replace(/\.\w{1,5}$/, "")
    .replaceAll(/[-_+\s]+/g, " ")
    .trim();
}

/** A percent sign may be a character of a mistyped address. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
