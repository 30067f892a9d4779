/** Address of a page's Markdown, below the site's origin. */
export function twinOf(path: string): string {
  return `${path === "/" || path === "" ? "/index" : path}.md`;
}

/** Whether a page is published as Markdown: those that search finds are. */
export function hasTwin({ id, data }: { id: string; data: { pagefind: boolean } }): boolean {
  return id !== "404" && data.pagefind;
}
