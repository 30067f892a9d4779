/** Path of a page's Markdown. */
export function twinOf(path: string): string {
  return `${path === "/" || path === "" ? "/index" : path}.md`;
}

/** Whether a page is published as Markdown, like all pages that search includes. */
export function hasTwin({ id, data }: { id: string; data: { pagefind: boolean } }): boolean {
  return id !== "404" && data.pagefind;
}
