import { twinOf } from "./twins.ts";

/** A page in the lists for language models. */
export interface ListedPage {
  path: string;
  title: string;
  description: string;
  section: string;
  markdown: string;
}

const OPERATIONS = "/docs/api-reference/";

/** `llms.txt`: every page by section, with the URL of its Markdown. */
export function llmsTxt(pages: readonly ListedPage[], site: { title: string; summary: string; origin: string }): string {
  const sections = Map.groupBy(pages, ({ path, section }) => (path.startsWith(OPERATIONS) ? "API operations" : section));
  const parts = [...sections].map(([section, listed]) => {
    const lines = listed.map(({ path, title, description }) => `- [${title}](${site.origin}${twinOf(path)}): ${description}`);
    return `## ${section}\n\n${lines.join("\n")}`;
  });
  return `# ${site.title}\n\n> ${site.summary}\n\nThe whole API as one document: ${site.origin}/openapi.json\n\n${parts.join("\n\n")}\n`;
}

/** `llms-full.txt`: the Markdown of every page except those of single operations, which the OpenAPI document covers. */
export function llmsFullTxt(pages: readonly ListedPage[], origin: string): string {
  return pages
    .filter(({ path }) => !path.startsWith(OPERATIONS))
    .map(({ path, markdown }) => `Source: ${origin}${path}\n\n${markdown}`)
    .join("\n---\n\n");
}
