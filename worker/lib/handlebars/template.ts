import { clip } from "#worker/lib/well-formed.ts";

const VARIABLE = /\{\{\{?\s*([A-Za-z_][\w.-]*)\s*\}?\}\}/g;

/**
 * Replaces `{{name}}` in HTML with the escaped variables; unknown names become empty. No helpers, blocks or raw output. Returns null if the
 * result exceeds `limit` characters: short HTML may repeat a long value.
 */
export function renderVariables(html: string, variables: Record<string, string | number | boolean>, limit: number): string | null {
  return substitute(html, (name) => (Object.hasOwn(variables, name) ? escapeHtml(String(variables[name])) : ""), limit);
}

/** Replaces `{{name}}` in plain text, without escaping; unknown names become empty. Cuts the result to `limit` characters. */
export function fillVariables(text: string, variables: ReadonlyMap<string, string | number | boolean>, limit: number): string {
  const values = (name: string) => clip(String(variables.get(name) ?? ""), limit);
  return clip(substitute(text, values, limit * 2) ?? "", limit);
}

/** The name, if the text is one placeholder and nothing else. */
export function soleVariable(text: string): string | undefined {
  const [match, ...others] = text.matchAll(VARIABLE);
  return match?.[0] === text && others.length === 0 ? match[1] : undefined;
}

function substitute(text: string, valueOf: (name: string) => string, limit: number): string | null {
  let rendered = "";
  let from = 0;
  for (const { 0: match, 1: name = "", index } of text.matchAll(VARIABLE)) {
    rendered += text.slice(from, index) + valueOf(name);
    if (rendered.length > limit) return null;
    from = index + match.length;
  }
  rendered += text.slice(from);
  return rendered.length > limit ? null : rendered;
}

/** The variable names in some HTML, each once. */
export function variablesOf(html: string): string[] {
  return [...new Set([...html.matchAll(VARIABLE)].flatMap(([, name]) => name ?? []))];
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;", "=": "&#61;" };

/** Escapes text for HTML, between tags or within quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`=]/g, (character) => ESCAPES[character] ?? character);
}
