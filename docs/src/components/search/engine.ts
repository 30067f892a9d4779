import { CURRENT } from "../../versions.ts";
import { once, versionFolder } from "./loading.ts";
import { containsWord, tokens } from "./query.ts";

/** One result of the page of all results: a page, or a heading within one. */
export interface Hit {
  kind: "page" | "heading";
  title: string;
  /** The page's title, for a heading. */
  page: string;
  url: string;
  /** HTML, escaped by the index, with matches in `<mark>`. */
  excerpt: string;
}

/** The full-text index. Each page of a result is a request of its own, so results are read in batches. */
export interface Engine {
  search(query: string): Promise<Results>;
}

/** The pages that contain all words of a query, best first. */
export interface Results {
  pages: number;
  /** The results `from` to `from + count - 1`, each page followed by its matching headings. */
  read(from: number, count: number): Promise<Hit[]>;
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
 * The full-text index of a version, such as `/`, and a context, such as `web-sdk`. Each is loaded once; the next call retries a
 * failed load.
 * @throws Error "Unexpected version url" for a URL of another origin or outside the site
 */
export async function loadEngine(versionUrl: string = BASE, context?: string): Promise<Engine> {
  const folder = versionFolder(versionUrl);
  return await once(engines, `${folder} ${context ?? ""}`, () => open(`${folder}/pagefind/pagefind.js`, context));
}

async function open(file: string, context: string | undefined): Promise<Engine> {
  const index = await importAnew(file);
  if (!isPagefind(index)) throw new Error(`${file} isn't a search index.`);
  await index.init();
  const filters = { version: CURRENT.name, ...(context === undefined ? {} : { ctx: context }) };
  return {
    async search(query) {
      const words = tokens(query);
      if (words.length === 0) return { pages: 0, read: () => Promise.resolve([]) };
      const { results } = await index.search(words.join(" "), { filters });
      // For an unknown word, the index returns pages that match its first letters.
      const [best] = await Promise.all(results.slice(0, 1).map((result) => result.data()));
      const matches = best !== undefined && words.every((word) => containsWord(best.content, word));
      return {
        pages: matches ? results.length : 0,
        async read(from, count) {
          if (!matches) return [];
          const found = await Promise.all(results.slice(from, from + count).map((result) => result.data()));
          return found.flatMap((page) => hitsOf(page, words));
        },
      };
    },
  };
}

const failures = new Map<string, number>();

/** Imports a module under another URL after each failure: Chromium remembers the failure of a URL until the page is reloaded. */
async function importAnew(file: string): Promise<unknown> {
  const failed = failures.get(file) ?? 0;
  try {
    const module: unknown = await import(/* @vite-ignore */ failed === 0 ? file : `${file}?attempt=${failed + 1}`);
    return module;
  } catch (error) {
    failures.set(file, failed + 1);
    throw error;
  }
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
