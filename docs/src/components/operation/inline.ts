const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Converts a text whose only markup is `inline code` to HTML. */
export function inline(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}
