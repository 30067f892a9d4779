import { readFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import { attribute, type BuiltPage, elements } from "./html.ts";

/** The gzipped bytes of a page's first visit: HTML with its inline content, styles, and scripts with their imports. */
export interface PageWeight {
  html: number;
  styles: number;
  scripts: number;
}

/** Pages that are applications, and therefore load more scripts. */
export const APPLICATIONS = ["/api/rest", "/start", "/studio"];

/** Weighs the pages below `root`. Files that several pages load are compressed once. */
export function createScale(root: string): (page: BuiltPage) => Promise<PageWeight> {
  const sizes = new Map<string, number>();
  return async (page) => {
    const all = [...elements(page.document)];
    const styles = all.filter((one) => attribute(one, "rel") === "stylesheet" && attribute(one, "media") !== "print");
    const scripts = new Set<string>();
    for (const script of all.filter(({ tagName }) => tagName === "script")) {
      const file = attribute(script, "src");
      if (file !== undefined) await collectImports(file, scripts);
    }
    return {
      html: await size(page.path === "/404" ? "404.html" : join(page.path, "index.html")),
      styles: await sum(styles.map((one) => attribute(one, "href") ?? "")),
      scripts: await sum([...scripts]),
    };
  };

  async function size(name: string): Promise<number> {
    const known = sizes.get(name) ?? gzipSync(await readFile(join(root, name))).length;
    sizes.set(name, known);
    return known;
  }
  async function sum(names: string[]): Promise<number> {
    let total = 0;
    for (const name of names) total += await size(name);
    return total;
  }
  async function collectImports(file: string, found: Set<string>): Promise<void> {
    if (found.has(file)) return;
    found.add(file);
    const code = await readFile(join(root, file), "utf8");
    for (const [, name = ""] of code.matchAll(/(?:from|import)\s*["'](\.[^"']+)["']/g)) {
      await collectImports(normalize(join(file, "..", name)), found);
    }
  }
}

/** Where the page about quality shows the weights. */
export const WEIGHTS_PLACE = `<tbody id="page-weights"></tbody>`;

const KINDS: [name: string, pattern: RegExp][] = [
  ["Home", /^\/$/],
  ["Guides and concepts", /^\/(guides|concepts)\//],
  ["SDK pages", /^\/sdk\//],
  ["Operations", /^\/docs\/api-reference\//],
];

/** Rows of a table: per kind of page the number of pages, the median weight, and the heaviest page with its weight. */
export async function weightRows(root: string, pages: readonly BuiltPage[]): Promise<string> {
  const weigh = createScale(root);
  const rows: string[] = [];
  for (const [name, pattern] of KINDS) {
    const weights: { path: string; bytes: number }[] = [];
    for (const page of pages.filter(({ path }) => pattern.test(path))) {
      const { html, styles, scripts } = await weigh(page);
      weights.push({ path: page.path, bytes: html + styles + scripts });
    }
    weights.sort((one, other) => one.bytes - other.bytes);
    const [middle, last] = [weights[weights.length >> 1], weights.at(-1)];
    if (!middle || !last) continue;
    const heaviest = `<a href="${last.path}">${last.path}</a>, ${kilobytes(last.bytes)}`;
    rows.push(`<tr><td>${name}</td><td>${weights.length}</td><td>${kilobytes(middle.bytes)}</td><td>${heaviest}</td></tr>`);
  }
  return WEIGHTS_PLACE.replace("></", `>${rows.join("")}</`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
