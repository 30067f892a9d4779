const VARIABLE = /\{\{\{?\s*([A-Za-z_][\w.-]*)\s*\}?\}\}/g;

/**
 * Fills `{{name}}` in html with the variables, escaped; an unknown name leaves nothing. No helpers, no blocks, no raw output. Null where
 * that makes more than `limit` characters: short html may name a long value many times.
 */
export function renderVariables(html: string, variables: Record<string, string | number | boolean>, limit: number): string | null {
  let rendered = "";
  let from = 0;
  for (const { 0: place, 1: name = "", index } of html.matchAll(VARIABLE)) {
    rendered += html.slice(from, index) + (Object.hasOwn(variables, name) ? escapeHtml(String(variables[name])) : "");
    if (rendered.length > limit) return null;
    from = index + place.length;
  }
  rendered += html.slice(from);
  return rendered.length > limit ? null : rendered;
}

/** The names that html has a place for, each once. */
export function variablesOf(html: string): string[] {
  return [...new Set([...html.matchAll(VARIABLE)].flatMap(([, name]) => name ?? []))];
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;", "=": "&#61;" };

/** Text as it may stand in html, between tags or within quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`=]/g, (character) => ESCAPES[character] ?? character);
}
