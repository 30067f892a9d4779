import MiniSearch from "minisearch";
import type { SearchFileEntry } from "../../publish/search-file.ts";
import { decodeWords } from "../../publish/word-index.ts";
import { STOP_WORDS, tokens } from "./query.ts";
import { namesEndpoint, requestIn } from "./endpoints.ts";
import { corrections } from "./corrections.ts";
import { startsPhrase, synonymsAt } from "./synonyms.ts";
import { isFiller, namesIn, stem, terms, wordsIn } from "./words.ts";

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
  /** The keywords, and the headings of several words. */
  phrases: string[][];
  /** The keywords that are questions, with the stop words that no phrase has. */
  questions: Set<string>;
  weight: number;
}

/** A word of a query and its synonyms, with their weights. */
interface Group {
  terms: Map<string, number>;
  /** How much a match counts: little for a word that only frames the question, much for a name such as `overlay.show`. */
  factor: number;
  /** How much the word says about what is looked for: rare words more than common ones. */
  importance: number;
}

/** What matched on a page. */
interface Match {
  score: number;
  /** Per word of the query: the weight of the best of it and its synonyms. */
  best: Map<number, number>;
  words: Set<string>;
  inTitle: Set<string>;
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
const BOOST = { title: 2.6, keywords: 4.7, heading: 2.3, description: 1.8, content: 0.8 };
/** Weight of a synonym, and of one whose word no page has. */
const SYNONYM = 0.22;
const SUBSTITUTE = 0.7;
/** Letters of the shorter part of a word that is split. */
const MIN_PART = 3;
/** How much of a word its synonym covers. */
const SYNONYM_COVERS = 0.6;
/** How much less a word counts that every page has. */
const COMMON = 0.6;
/** How many neighbours may be one word, most first. */
const JOINED = [4, 3, 2] as const;
/** What further synonyms count beside the best: little, so that many of them don't outweigh the query's other words. */
const OTHERS = 0.6;
/** What the beginning of a word counts. */
const PREFIX = 0.4;
/** What a name counts, such as that of a frame or a header. */
const NAME = 3;
/** What a word that only frames a question counts. */
const FILLER = 0.35;
/** How much a keyword of several words counts that the query contains whole. */
const PHRASE = 1.2;
/** Words of a query that count, so that pasted text doesn't stall the page. */
const MAX_WORDS = 16;
/** Results that may lead to entries of the same page. */
const PER_PAGE = 2;

/** Ranks the pages of a search file by a query: typos, beginnings, inflections and synonyms of its words match too. */
export class Ranking {
  readonly #pages = new Map<number, Page>();
  /** The number of pages that contain each word. */
  readonly #vocabulary = new Map<string, number>();
  /** While the index is built. */
  readonly #wordsOfPages = new Map<number, Set<string>>();
  /** Operations by their endpoints. */
  readonly #endpoints = new Map<string, number>();
  readonly #index = new MiniSearch<Target>({
    fields: [...FIELDS],
    tokenize: (text) => text.split(" "),
    processTerm: (term) => term,
    searchOptions: { boost: BOOST, combineWith: "OR", bm25: { k: 1.4, b: 0.6, d: 0.35 } },
  });

  constructor([titles, headings, descriptions, keywords, contents]: readonly SearchFileEntry[]) {
    const targets = new Map<number, Target>();
    for (const { i = 0, t = "", u = "", h = "", b = [] } of titles?.documents ?? []) {
      const words = terms(t);
      this.#wordsOfPages.set(i, new Set(words));
      targets.set(i, { id: i, title: words.join(" "), heading: "", description: "", keywords: "", content: "" });
      const known = {
        title: t,
        url: u + h,
        path: u,
        crumb: b.join(" › "),
        description: "",
        headings: [],
        phrases: [],
        questions: new Set<string>(),
      };
      this.#pages.set(i, { ...known, titleWords: new Set(words), weight: weightOf(u) });
    }
    this.#fill(targets, "heading", headings);
    this.#fill(targets, "description", descriptions);
    this.#fill(targets, "keywords", keywords);
    this.#fill(targets, "content", contents);
    for (const words of this.#wordsOfPages.values()) {
      for (const word of words) this.#vocabulary.set(word, (this.#vocabulary.get(word) ?? 0) + 1);
    }
    this.#wordsOfPages.clear();
    this.#index.addAll([...targets.values()]);
  }

  #fill(targets: ReadonlyMap<number, Target>, field: Exclude<keyof Target, "id">, list: SearchFileEntry | undefined): void {
    const { documents = [], index = [] } = list ?? {};
    const indexed = decodeWords(index, documents.length);
    for (const [at, { t, h = "", p = 0 }] of documents.entries()) {
      const phrases = (field === "keywords" ? (t ?? "").split(",") : [t ?? ""]).map(terms);
      const words = [...phrases.flat(), ...(indexed[at] ?? [])];
      const target = targets.get(p);
      const page = this.#pages.get(p);
      if (!target || !page) continue;
      const known = this.#wordsOfPages.get(p);
      for (const word of words) {
        known?.add(word);
        if (word.includes("/")) this.#endpoints.set(word, p);
      }
      target[field] += ` ${words.join(" ")}`;
      if (field === "description") page.description = t ?? "";
      if (field === "keywords") for (const question of (t ?? "").split(",").filter(hasStopWord)) page.questions.add(asQuestion(question));
      if (field === "keywords" || field === "heading")
        page.phrases.push(...phrases.filter((phrase) => phrase.length > 1 || field === "keywords"));
      if (field === "heading") page.headings.push({ title: t ?? "", anchor: h, words: new Set(words) });
    }
  }

  /** The best results; pages of the section named `context` rank a little higher. */
  search(query: string, limit: number, context?: string): RankedHit[] {
    const named = this.#namedBy(query);
    if (tokens(query).length === 0 && named.size === 0) return [];
    const groups = this.#groupsOf(query);
    const asked = new Set(groups.flatMap(({ terms: group }) => [...group].filter(([, weight]) => weight === 1).map(([word]) => word)));
    const found = new Map<number, Match>();
    for (const [at, group] of groups.entries()) this.#match(group, at, at === groups.length - 1, found);
    // Such as "if this then that", which has no word of its own.
    for (const id of named) if (!found.has(id)) found.set(id, noMatch());
    const ranked = [...found]
      .map(([id, match]) => ({ id, match, score: this.#score(id, match, groups, asked, context) }))
      .sort((one, other) => Number(named.has(other.id)) - Number(named.has(one.id)) || other.score - one.score);
    return this.#distinct(ranked, limit);
  }

  /** The operations whose request the query names, such as `PUT /poll/v3/{id}`; otherwise the pages that it is a question of, word for word. */
  #namedBy(query: string): Set<number> {
    const request = requestIn(query);
    if (request) return new Set([...this.#endpoints].flatMap(([term, id]) => (namesEndpoint(request, term) ? [id] : [])));
    const asked = asQuestion(query);
    return new Set([...this.#pages].flatMap(([id, { questions }]) => (questions.has(asked) ? [id] : [])));
  }

  /** Adds the pages that contain a word or one of its synonyms. */
  #match({ terms: group, factor }: Group, at: number, isLast: boolean, found: Map<number, Match>): void {
    const scores = new Map<number, { most: number; sum: number }>();
    for (const [index, [term, weight]] of [...group].entries()) {
      const prefix = term.length > 1 && ((isLast && index === 0) || !this.#vocabulary.has(term));
      for (const result of this.#index.search(term, { prefix, weights: { fuzzy: 0, prefix: PREFIX } })) {
        const id = Number(result.id);
        const match = found.get(id) ?? noMatch();
        found.set(id, match);
        match.best.set(at, Math.max(weight, match.best.get(at) ?? 0));
        for (const [word, fields] of Object.entries(result.match)) {
          match.words.add(word);
          if (fields.includes("title")) match.inTitle.add(word);
        }
        const { most, sum } = scores.get(id) ?? { most: 0, sum: 0 };
        const score = result.score * weight;
        scores.set(id, { most: Math.max(most, score), sum: sum + score });
      }
    }
    for (const [id, { most, sum }] of scores) {
      const match = found.get(id);
      if (match) match.score += (most + OTHERS * (sum - most)) * factor;
    }
  }

  /** Per word of the query: the word and its synonyms, with their weights. */
  #groupsOf(query: string): Group[] {
    const written = wordsIn(query.toLowerCase()).slice(0, MAX_WORDS);
    const joined = this.#joined(written);
    const kept = new Set([...terms(query), ...joined]);
    const typed = [...joined, ...written.map(stem)];
    const words = typed.flatMap((word) => (kept.has(word) ? this.#wordsOf(word) : [word]));
    const names = namesIn(query).filter(({ joined: name }) => this.#vocabulary.has(name));
    const parts = new Set(names.flatMap((name) => name.parts));
    const groups: Group[] = [];
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? "";
      const isStopWord = typed.includes(word) && !kept.has(word);
      const synonyms = synonymsAt(words, at);
      const group = new Map<string, number>(isStopWord ? [] : [[word, 1]]);
      const weight = !isStopWord && this.#vocabulary.has(word) ? SYNONYM : SUBSTITUTE;
      for (const { terms: others } of synonyms) for (const other of others) if (!group.has(other)) group.set(other, weight);
      const factor = names.some(({ joined: name }) => name === word) ? NAME : isFiller(word) || parts.has(word) ? FILLER : 1;
      if (group.size > 0) groups.push({ terms: group, factor, importance: factor === 1 ? this.#rarity(word) : factor });
    }
    return groups;
  }

  /** The word; or, if no page has it, the two that it is joined of, or the one that it misspells. */
  #wordsOf(word: string): string[] {
    if (this.#vocabulary.has(word) || word.length < 4 || isFiller(word) || startsPhrase(word)) return [word];
    for (const known of this.#vocabulary.keys()) if (known.startsWith(word)) return [word];
    const [best] = corrections(word, this.#vocabulary);
    return this.#splitOf(word) ?? [best ?? word];
  }

  /** What pages write as one word of two to four neighbours, such as "change log" and "list-chat-messages": the longest. */
  #joined(words: readonly string[]): string[] {
    const found: string[] = [];
    for (let at = 0; at < words.length; at++) {
      for (const count of JOINED) {
        const all = at + count > words.length ? "" : stem(words.slice(at, at + count).join(""));
        if (!this.#vocabulary.has(all)) continue;
        found.push(all);
        at += count - 1;
        break;
      }
    }
    return found;
  }

  #splitOf(word: string): string[] | undefined {
    for (let end = MIN_PART; end <= word.length - MIN_PART; end++) {
      const parts = [word.slice(0, end), word.slice(end)].map(stem);
      if (parts.every((part) => this.#vocabulary.has(part))) return parts;
    }
    return undefined;
  }

  /** From two fifths, for a word of every page, to 1, for a word of one page or none. */
  #rarity(word: string): number {
    const pages = this.#vocabulary.get(word) ?? 1;
    return 1 - COMMON * (Math.log(pages) / Math.log(Math.max(2, this.#pages.size)));
  }

  #sum(words: readonly string[]): number {
    return words.reduce((sum, word) => sum + (isFiller(word) ? FILLER : this.#rarity(word)), 0);
  }

  #score(id: number, match: Match, groups: readonly Group[], asked: ReadonlySet<string>, context: string | undefined): number {
    const page = this.#pages.get(id);
    if (!page || match.score === 0) return 0;
    const covered = groups.reduce((sum, { importance }, at) => {
      const best = match.best.get(at) ?? 0;
      return sum + importance * (best === 1 ? 1 : best > 0 ? SYNONYM_COVERS : 0);
    }, 0);
    const coverage = (covered / groups.reduce((sum, { importance }) => sum + importance, 0)) ** 1.5;
    // A title that the query names completely is what the reader looks for.
    const inTitle = [...page.titleWords].filter((word) => match.inTitle.has(word)).length;
    const whole = page.titleWords.size > 0 ? 1 + 0.7 * (inTitle / page.titleWords.size) : 1;
    // A keyword of one word names the page only to a reader who asks for nothing else.
    const phrases = page.phrases.filter((words) => words.length > 1 || asked.size === 1);
    const named = Math.max(0, ...phrases.filter((words) => words.every((word) => asked.has(word))).map((words) => this.#sum(words)));
    const phrase = 1 + PHRASE * Math.min(1, named / Math.max(1, this.#sum([...asked])));
    return match.score * coverage * whole * phrase * page.weight * (context !== undefined && page.crumb === context ? 1.15 : 1);
  }

  #distinct(ranked: { id: number; match: Match; score: number }[], limit: number): RankedHit[] {
    const hits: RankedHit[] = [];
    const perPath = new Map<string, number>();
    for (const { id, match, score } of ranked) {
      const page = this.#pages.get(id);
      if (!page) continue;
      const count = perPath.get(page.path) ?? 0;
      if (count >= PER_PAGE) continue;
      perPath.set(page.path, count + 1);
      hits.push(hitOf(page, match, score));
      if (hits.length >= limit) break;
    }
    return hits;
  }
}

function noMatch(): Match {
  return { score: 0, best: new Map(), words: new Set(), inTitle: new Set() };
}

function hitOf(page: Page, { words: found }: Match, score: number): RankedHit {
  const matched = [...found];
  const count = (words: ReadonlySet<string>): number => matched.filter((word) => words.has(word)).length;
  const base = { page: page.title, crumb: page.crumb, description: page.description, tokens: matched, score };
  const inTitle = count(page.titleWords);
  const [heading] = [...page.headings].sort((one, other) => count(other.words) - count(one.words));
  if (inTitle > 0 || !heading || count(heading.words) === 0) {
    return { ...base, type: 0, title: page.title, url: page.url };
  }
  return { ...base, type: 1, title: heading.title, url: page.path + heading.anchor };
}

function hasStopWord(keyword: string): boolean {
  return keyword
    .toLowerCase()
    .split(/\s+/)
    .some((word) => STOP_WORDS.has(word));
}

function asQuestion(text: string): string {
  return text
    .toLowerCase()
    .replace(/[?!.]+\s*$/, "")
    .trim()
    .replaceAll(/\s+/g, " ");
}

/** How likely a page is what somebody looks for, by its kind. */
function weightOf(path: string): number {
  if (path === "/changelog") return 0.7;
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
