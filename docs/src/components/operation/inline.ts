const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** The HTML of a text of the document, whose only markup is `inline code`. */
export function inline(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}
