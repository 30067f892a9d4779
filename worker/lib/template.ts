const VARIABLE = /\{\{\{?\s*([A-Za-z_][\w.-]*)\s*\}?\}\}/g;

/** Fills `{{name}}` in html with the variables, escaped; an unknown name leaves nothing. No helpers, no blocks, no raw output. */
export function renderVariables(html: string, variables: Record<string, string | number | boolean>): string {
  return html.replace(VARIABLE, (_, name: string) => (Object.hasOwn(variables, name) ? escapeHtml(String(variables[name])) : ""));
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
