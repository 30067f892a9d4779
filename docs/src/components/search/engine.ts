import { CURRENT } from "../../versions.ts";
import { holds, tokens } from "./query.ts";

/** One place that a search found: a page, or a part of one. */
export interface Hit {
  kind: "page" | "heading";
  title: string;
  /** The page's title, for a heading. */
  page: string;
  url: string;
  /** HTML, escaped by the index, with the words found in `<mark>`. */
  excerpt: string;
}

/** Answers the pages that hold all words of a query, best first, each followed by its headings that hold one. */
export interface Engine {
  search(query: string, limit: number): Promise<{ hits: Hit[]; pages: number }>;
}

interface Found {
  url: string;
  excerpt: string;
  content: string;
  meta: { title: string };
  sub_results: { title: string; url: string; excerpt: string }[];
}

interface Pagefind {
  init(): Promise<void>;
  search(query: string, options: { filters: Record<string, string> }): Promise<{ results: { data(): Promise<Found> }[] }>;
}

const BASE = "/";
const HEADINGS_PER_PAGE = 2;
const engines = new Map<string, Promise<Engine>>();

/**
 * The index of a version, such as `/`, and a context, such as `web-sdk`, loaded once for each. A load that failed is tried anew by
 * the next call.
 * @throws Error "Unexpected version url" for an address of another origin or outside of the site
 */
export async function loadEngine(versionUrl: string = BASE, context?: string): Promise<Engine> {
  const folder = new URL(versionUrl, location.origin);
  if (folder.origin !== location.origin || !folder.pathname.startsWith(BASE)) throw new Error("Unexpected version url");
  const key = `${folder.pathname} ${context ?? ""}`;
  const known = engines.get(key);
  if (known) return await known;
  const loading = open(`${folder.pathname.replace(/\/$/, "")}/pagefind/pagefind.js`, context);
  engines.set(key, loading);
  try {
    return await loading;
  } catch (error) {
    engines.delete(key);
    throw error;
  }
}

async function open(file: string, context: string | undefined): Promise<Engine> {
  const index: unknown = await import(/* @vite-ignore */ file);
  if (!isPagefind(index)) throw new Error(`${file} is no search index.`);
  await index.init();
  const filters = { version: CURRENT.name, ...(context === undefined ? {} : { ctx: context }) };
  return {
    async search(query, limit) {
      const words = tokens(query);
      if (words.length === 0) return { hits: [], pages: 0 };
      const { results } = await index.search(words.join(" "), { filters });
      const likely = await Promise.all(results.slice(0, limit).map((result) => result.data()));
      // For a word that it doesn't know the index answers pages that hold its first letters.
      const found = likely.filter(({ content }) => words.every((word) => holds(content, word)));
      const pages = found.length < likely.length ? found.length : results.length;
      return { hits: found.flatMap((page) => hitsOf(page, words)).slice(0, limit), pages };
    },
  };
}

function isPagefind(module: unknown): module is Pagefind {
  return typeof module === "object" && module !== null && "init" in module && "search" in module;
}

function hitsOf(page: Found, words: readonly string[]): Hit[] {
  const { title } = page.meta;
  const headings = page.sub_results.filter((part) => {
    const heading = part.title.toLowerCase();
    return part.url.includes("#") && part.title !== title && words.some((word) => heading.includes(word));
  });
  return [
    { kind: "page", title, page: title, url: clean(page.url), excerpt: page.excerpt },
    ...headings.slice(0, HEADINGS_PER_PAGE).map((part) => ({
      kind: "heading" as const,
      title: part.title,
      page: title,
      url: clean(part.url),
      excerpt: part.excerpt,
    })),
  ];
}

/** The site's addresses have no slash at their end. */
function clean(url: string): string {
  return url.replace(/(.)\/(#|$)/, "$1$2");
}
