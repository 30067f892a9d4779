import type { AstroIntegration } from "astro";
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentOf, readPage, type BuiltPage } from "../src/publish/html.ts";
import { toMarkdown } from "../src/publish/markdown.ts";
import { WEIGHTS_PLACE, weightRows } from "../src/publish/page-weights.ts";

const PAGE = "quality/index.html";
const TWIN = "quality.md";

/** Fills the table of page weights, which only the finished build knows, on the page about quality and in its Markdown. */
export function pageWeights(): AstroIntegration {
  return {
    name: "tifo-page-weights",
    hooks: {
      "astro:build:done": async ({ dir }) => {
        const root = fileURLToPath(dir);
        const pages: BuiltPage[] = [];
        for await (const file of glob("**/*.html", { cwd: root })) pages.push(readPage(file, await readFile(join(root, file), "utf8")));
        const html = await readFile(join(root, PAGE), "utf8");
        if (!html.includes(WEIGHTS_PLACE)) throw new Error("The page about quality has no place for the weights.");
        const rows = await weightRows(root, pages);
        const filled = html.replace(WEIGHTS_PLACE, () => rows);
        await writeFile(join(root, PAGE), filled);
        const content = contentOf(readPage(PAGE, filled));
        if (content) await writeFile(join(root, TWIN), toMarkdown(content));
      },
    },
  };
}
