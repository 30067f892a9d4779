import { getCollection } from "astro:content";
import { globSync } from "node:fs";
import resolved from "virtual:tifo/routes";
import { operations } from "../components/operation/document.ts";
import { contextId } from "../contexts.ts";
import { navbar } from "../navbar/navbar.ts";
import { currentVersion, pathOf } from "../navbar/navbar-context.ts";
import { sections } from "../sidebars/index.ts";
import { announcement, colorMode, footer, origin, sources, tagline } from "../site.ts";

/** The debug pages. */
export const VIEWS = ["config", "content", "globalData", "metadata", "registry", "routes"] as const;

// Pages are built from the project root.
const SOURCES = "docs/src";

/** The content of a debug page. */
export async function viewOf(view: string): Promise<unknown> {
  const docs = await getCollection("docs");
  switch (view) {
    case "config":
      return { origin, sources: sources ?? null, tagline, navbar, announcement, footer, colorMode, sections };
    case "content":
      return docs.map(({ id, filePath, body = "" }) => ({ id, file: filePath, words: body.split(/\s+/).length }));
    case "globalData":
      return { versions: [await currentVersion()], searchContexts: sections.map(({ label }) => contextId(label)) };
    case "metadata":
      return docs.map(({ id, data }) => ({ id, title: data.title, description: data.description, draft: data.draft }));
    case "registry":
      return globSync(["overrides/*.astro", "components/**/*.{astro,ts,tsx}"], { cwd: SOURCES, exclude: ["**/*.test.ts"] }).sort();
    default:
      return resolved.map((route) => ({ ...route, paths: pathsOf(route.pattern, docs) }));
  }
}

/** The paths of a route with parameters. */
function pathsOf(pattern: string, docs: readonly { id: string }[]): string[] {
  const known: Record<string, string[]> = {
    "/[...slug]": docs.map(({ id }) => pathOf(id)),
    "/docs/api-reference/[operationid]": operations.map(({ operationId }) => `/docs/api-reference/${operationId}`),
    "/__debug/[view]": VIEWS.map((view) => `/__debug/${view}`),
  };
  return known[pattern.toLowerCase()] ?? (pattern.includes("[") ? [] : [pattern]);
}
