import type { AstroIntegration } from "astro";
import { appendFile, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { close, createIndex } from "pagefind";
import { contextId } from "../src/contexts.ts";
import { withLightCode } from "../src/publish/full-text.ts";
import { contentOf, metaOf, readPage, titleOf, type BuiltPage } from "../src/publish/html.ts";
import { linkFaults } from "../src/publish/link-check.ts";
import { llmsFullTxt, llmsTxt, type ListedPage } from "../src/publish/llms.ts";
import { toMarkdown } from "../src/publish/markdown.ts";
import { searchFile } from "../src/publish/search-file.ts";
import { searchFileName, UNNAMED_SEARCH_FILE } from "../src/publish/search-files.ts";
import { searchIndex } from "../src/publish/search-index.ts";
import { twinOf } from "../src/publish/twins.ts";
import { sectionOf, sections } from "../src/sidebars/index.ts";
import { origin } from "../src/site.ts";

const TITLE = "Tifo";
const SUMMARY =
  "An open-source audience-engagement platform for live video: realtime overlays, panels, polls and quests over one API, with SDKs.";
/** Pagefind's files for search boxes that the site doesn't use. */
const UNUSED = ["pagefind-ui.*", "pagefind-modular-ui.*", "pagefind-component-ui.*", "pagefind-highlight.js"];

/**
 * Generates from the built pages what readers and tools search and read: Pagefind's index, `search-index.json` (and one per
 * section), a Markdown twin of each page, `llms.txt`, `llms-full.txt`. Then checks every link: a broken one fails the build.
 */
export function publish(): AstroIntegration {
  return {
    name: "tifo-publish",
    hooks: {
      "astro:build:done": async ({ dir, logger }) => {
        const root = fileURLToPath(dir);
        const pages = await readPages(root);
        await writeTwins(root, pages);
        await writeSearchIndexes(root, pages);
        await writeSearchFiles(root, pages);
        await writePagefind(root);
        const faults = linkFaults(pages, await filesOf(root), origin);
        if (faults.length > 0) throw new Error(`${faults.length} broken links, anchors or images:\n${faults.join("\n")}`);
        logger.info(`${pages.length} pages, every link leads somewhere.`);
      },
    },
  };
}

async function readPages(root: string): Promise<BuiltPage[]> {
  const pages: BuiltPage[] = [];
  for await (const file of glob("**/*.html", { cwd: root })) pages.push(readPage(file, await readFile(join(root, file), "utf8")));
  return pages.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function filesOf(root: string): Promise<Set<string>> {
  const files = new Set<string>();
  for await (const file of glob("**/*.*", { cwd: root })) files.add(file);
  return files;
}

async function writeTwins(root: string, pages: readonly BuiltPage[]): Promise<void> {
  const listed = pages.flatMap((page): ListedPage[] => {
    const content = contentOf(page);
    if (!content) return [];
    const { path } = page;
    const section = sectionOf(path)?.label ?? "The site";
    return [{ path, section, title: titleOf(content), description: metaOf(page, "description") ?? "", markdown: toMarkdown(content) }];
  });
  for (const { path, markdown } of listed) {
    const file = join(root, twinOf(path));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, markdown);
  }
  await writeFile(join(root, "llms.txt"), llmsTxt(listed, { title: TITLE, summary: SUMMARY, origin }));
  await writeFile(join(root, "llms-full.txt"), llmsFullTxt(listed, origin));
}

function breadcrumbOf(path: string): string[] {
  return [sectionOf(path)?.label ?? TITLE];
}

async function writeSearchIndexes(root: string, pages: readonly BuiltPage[]): Promise<void> {
  await writeFile(join(root, "search-index.json"), JSON.stringify(searchIndex(pages, breadcrumbOf)));
  for (const section of sections) {
    const own = pages.filter(({ path }) => sectionOf(path) === section);
    await writeFile(join(root, `search-index-${contextId(section.label)}.json`), JSON.stringify(searchIndex(own, breadcrumbOf)));
  }
}

/** Writes the files that the search box loads, one for the site and one per section, and names the first in each page. */
async function writeSearchFiles(root: string, pages: readonly BuiltPage[]): Promise<void> {
  const write = async (from: readonly BuiltPage[], context?: string): Promise<string> => {
    const content = JSON.stringify(searchFile(from, breadcrumbOf));
    const name = searchFileName(content, context);
    await writeFile(join(root, name), content);
    await appendFile(join(root, "_headers"), `\n/${name}\n  Cache-Control: public, max-age=31536000, immutable\n`);
    return name;
  };
  for (const section of sections) {
    await write(
      pages.filter(({ path }) => sectionOf(path) === section),
      contextId(section.label),
    );
  }
  const name = await write(pages);
  for await (const file of glob("**/*.html", { cwd: root })) {
    const html = await readFile(join(root, file), "utf8");
    await writeFile(join(root, file), html.replaceAll(UNNAMED_SEARCH_FILE, name));
  }
}

async function writePagefind(root: string): Promise<void> {
  try {
    const { index, errors } = await createIndex({ forceLanguage: "en", includeCharacters: "_" });
    if (!index) throw new Error(errors.join("\n"));
    const failed: string[] = [];
    for await (const sourcePath of glob("**/*.html", { cwd: root })) {
      const content = withLightCode(await readFile(join(root, sourcePath), "utf8"));
      failed.push(...(await index.addHTMLFile({ sourcePath, content })).errors);
    }
    const written = await index.writeFiles({ outputPath: join(root, "pagefind") });
    failed.push(...written.errors);
    if (failed.length > 0) throw new Error(failed.join("\n"));
  } finally {
    await close();
  }
  for await (const file of glob(UNUSED, { cwd: join(root, "pagefind") })) await rm(join(root, "pagefind", file));
}
