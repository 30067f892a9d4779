import MiniSearch, { type SearchResult } from "minisearch";
import type { SearchFileEntry } from "../../publish/search-file.ts";
import { decodeWords } from "../../publish/word-index.ts";
import { tokens } from "./query.ts";
import { phraseOf, synonymsAt } from "./synonyms.ts";
import { terms } from "./words.ts";

/** A page, or a list's entry, with all that is searched of it. */
interface Target {
  id: number;
  title: string;
  heading: string;
  description: string;
  keywords: string;
  content: string;
}

interface Section {
  title: string;
  anchor: string;
  words: Set<string>;
}

interface Page {
  title: string;
  url: string;
  path: string;
  crumb: string;
  description: string;
  headings: Section[];
  titleWords: Set<string>;
  weight: number;
}

/** One result: a page, or its heading that matches better than its title, with the words that matched. */
export interface RankedHit {
  /** 0 for a page, 1 for a heading. */
  type: 0 | 1;
  title: string;
  page: string;
  url: string;
  crumb: string;
  description: string;
  tokens: string[];
  score: number;
}

const FIELDS = ["title", "heading", "description", "keywords", "content"] as const;
const BOOST = { title: 5, keywords: 3, heading: 2, description: 2, content: 0.7 };
/** Weight of a synonym, and of one whose word no page has. */
const SYNONYM = 0.25;
const SUBSTITUTE = 0.6;
/** Words of a query that count, so that pasted text doesn't stall the page. */
const MAX_WORDS = 16;
/** Results that may lead to entries of the same page. */
const PER_PAGE = 2;

/** Ranks the pages of a search file by a query: typos, beginnings, inflections and synonyms of its words match too. */
export class Ranking {
  readonly #pages = new Map<number, Page>();
  readonly #vocabulary = new Set<string>();
  readonly #index = new MiniSearch<Target>({
    fields: [...FIELDS],
    tokenize: (text) => text.split(" "),
    processTerm: (term) => term,
    searchOptions: { boost: BOOST, combineWith: "OR", bm25: { k: 1.2, b: 0.5, d: 0.3 } },
  });

  constructor([titles, headings, descriptions, keywords, contents]: readonly SearchFileEntry[]) {
    const targets = new Map<number, Target>();
    for (const { i, t = "", u, h = "", b = [] } of titles?.documents ?? []) {
      const words = terms(t);
      targets.set(i, { id: i, title: words.join(" "), heading: "", description: "", keywords: "", content: "" });
      const known = { title: t, url: u + h, path: u, crumb: b.join(" › "), description: "", headings: [] };
      this.#pages.set(i, { ...known, titleWords: new Set(words), weight: weightOf(u) });
    }
    this.#fill(targets, "heading", headings);
    this.#fill(targets, "description", descriptions);
    this.#fill(targets, "keywords", keywords);
    this.#fill(targets, "content", contents);
    for (const target of targets.values()) {
      for (const field of FIELDS) for (const word of target[field].split(" ")) this.#vocabulary.add(word);
    }
    this.#index.addAll([...targets.values()]);
  }

  #fill(targets: ReadonlyMap<number, Target>, field: Exclude<keyof Target, "id">, list: SearchFileEntry | undefined): void {
    const { documents = [], index = [] } = list ?? {};
    const indexed = decodeWords(index, documents.length);
    for (const [at, { t, h = "", p = 0 }] of documents.entries()) {
      const words = t === undefined ? (indexed[at] ?? []) : terms(t);
      const target = targets.get(p);
      const page = this.#pages.get(p);
      if (!target || !page) continue;
      target[field] += ` ${words.join(" ")}`;
      if (field === "description") page.description = t ?? "";
      if (field === "heading") page.headings.push({ title: t ?? "", anchor: h, words: new Set(words) });
    }
  }

  /** The best results; pages of the section named `context` rank a little higher. */
  search(query: string, limit: number, context?: string): RankedHit[] {
    if (tokens(query).length === 0) return [];
    const groups = this.#groupsOf(query);
    const weights = new Map<string, number>();
    for (const group of groups) for (const [term, weight] of group) weights.set(term, Math.max(weight, weights.get(term) ?? 0));
    const all = [...weights.keys()];
    const typed = groups.at(-1)?.keys().next().value;
    const results = this.#index.search(all.join(" "), {
      boostTerm: (term) => weights.get(term) ?? 1,
      prefix: (term) => term.length > 1 && (term === typed || !this.#vocabulary.has(term)),
      fuzzy: (term) => (this.#vocabulary.has(term) || term.length < 4 ? false : term.length < 6 ? 1 : 2),
      weights: { fuzzy: 0.45, prefix: 0.4 },
    });
    const ranked = results
      .map((result) => ({ result, score: result.score * this.#factor(result, groups, context) }))
      .sort((one, other) => other.score - one.score);
    return this.#distinct(ranked, limit);
  }

  /** Per word of the query: the word and its synonyms, with their weights. */
  #groupsOf(query: string): Map<string, number>[] {
    const words = phraseOf(query).slice(0, MAX_WORDS);
    const kept = new Set(terms(query));
    const groups: Map<string, number>[] = [];
    for (const [at, word] of words.entries()) {
      const synonyms = synonymsAt(words, at);
      const own = kept.has(word) ? [word] : [];
      const joined = word + (words[at + 1] ?? "");
      const group = new Map<string, number>(own.map((term) => [term, 1]));
      if (words[at + 1] !== undefined && this.#vocabulary.has(joined)) group.set(joined, 1);
      const weight = own.length > 0 && this.#vocabulary.has(word) ? SYNONYM : SUBSTITUTE;
      for (const { terms: others } of synonyms) for (const other of others) if (!group.has(other)) group.set(other, weight);
      if (group.size > 0 && (own.length > 0 || synonyms.length > 0)) groups.push(group);
    }
    return groups;
  }

  #factor(result: SearchResult, groups: Map<string, number>[], context: string | undefined): number {
    const page = this.#pages.get(Number(result.id));
    if (!page) return 0;
    const matched = new Set(result.queryTerms);
    const covered = groups.reduce((sum, group) => {
      const best = Math.max(0, ...[...group].filter(([term]) => matched.has(term)).map(([, weight]) => weight));
      return sum + (best === 1 ? 1 : best > 0 ? 0.8 : 0);
    }, 0);
    const coverage = (covered / groups.length) ** 1.5;
    // A title that the query names completely is what the reader looks for.
    const inTitle = [...page.titleWords].filter((word) => result.match[word]?.includes("title")).length;
    const whole = page.titleWords.size > 0 ? 1 + 0.7 * (inTitle / page.titleWords.size) : 1;
    return coverage * whole * page.weight * (context !== undefined && page.crumb === context ? 1.15 : 1);
  }

  #distinct(ranked: { result: SearchResult; score: number }[], limit: number): RankedHit[] {
    const hits: RankedHit[] = [];
    const perPath = new Map<string, number>();
    for (const { result, score } of ranked) {
      const page = this.#pages.get(Number(result.id));
      if (!page) continue;
      const count = perPath.get(page.path) ?? 0;
      if (count >= PER_PAGE) continue;
      perPath.set(page.path, count + 1);
      hits.push(hitOf(page, result, score));
      if (hits.length >= limit) break;
    }
    return hits;
  }
}

function hitOf(page: Page, result: SearchResult, score: number): RankedHit {
  const matched = Object.keys(result.match);
  const count = (words: ReadonlySet<string>): number => matched.filter((word) => words.has(word)).length;
  const base = { page: page.title, crumb: page.crumb, description: page.description, tokens: matched, score };
  const inTitle = count(page.titleWords);
  const [heading] = [...page.headings].sort((one, other) => count(other.words) - count(one.words));
  if (inTitle > 0 || !heading || count(heading.words) === 0) {
    return { ...base, type: 0, title: page.title, url: page.url };
  }
  return { ...base, type: 1, title: heading.title, url: page.path + heading.anchor };
}

/** How likely a page is what somebody looks for, by its kind. */
function weightOf(path: string): number {
  if (/changelog/i.test(path)) return 0.3;
  if (path.startsWith("/sdk/web-legacy")) return 0.6;
  if (/^\/(guides|concepts|start|api|overlays)\b/.test(path)) return 1.5;
  if (/^\/sdk\/[^/]+$/.test(path)) return 1.3;
  if (/^\/sdk\/web\//.test(path)) return 1.1;
  if (path.startsWith("/sdk/") || path === "/errors") return 0.8;
  // Of the operations on one resource, these are looked for most.
  if (/\/(create|list|broadcast)[A-Z][a-zA-Z]+$/.test(path)) return 1.1;
  return /\/(delete|replace|update|revoke|reset|get)[A-Z][a-zA-Z]+$/.test(path) ? 0.9 : 1;
}
