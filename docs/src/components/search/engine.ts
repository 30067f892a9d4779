import { CURRENT } from "../../versions.ts";
import { containsWord, tokens } from "./query.ts";

/** One search result: a page, or a heading within one. */
export interface Hit {
  kind: "page" | "heading";
  title: string;
  /** The page's title, for a heading. */
  page: string;
  url: string;
  /** HTML, escaped by the index, with matches in `<mark>`. */
  excerpt: string;
}

/** Returns the pages that contain all words of a query, best first, each followed by its matching headings. */
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
 * The index of a version, such as `/`, and a context, such as `web-sdk`. Each is loaded once; the next call retries a failed load.
 * @throws Error "Unexpected version url" for a URL of another origin or outside the site
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
  if (!isPagefind(index)) throw new Error(`${file} isn't a search index.`);
  await index.init();
  const filters = { version: CURRENT.name, ...(context === undefined ? {} : { ctx: context }) };
  return {
    async search(query, limit) {
      const words = tokens(query);
      if (words.length === 0) return { hits: [], pages: 0 };
      const { results } = await index.search(words.join(" "), { filters });
      const likely = await Promise.all(results.slice(0, limit).map((result) => result.data()));
      // For an unknown word, the index returns pages that match its first letters.
      const found = likely.filter(({ content }) => words.every((word) => containsWord(content, word)));
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

/** The site's URLs have no trailing slash. */
function clean(url: string): string {
  return url.replace(/(.)\/(#|$)/, "$1$2");
}
