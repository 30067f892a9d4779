/**
 * A page as the full-text index reads it. Words in code weigh little: they are found, but an excerpt shows the prose around a word that
 * is in both.
 */
export function withLightCode(html: string): string {
  return html.replaceAll(/<pre(?=[\s>])/g, '<pre data-pagefind-weight="0.25"');
}
