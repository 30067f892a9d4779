import { showLoaded } from "../shell/loadable.ts";
import { type Hit, loadEngine } from "./engine.ts";
import { cutTitle, tokens } from "./query.ts";

const MAX_HITS = 100;
const TITLE_LIMIT = 100;

/** The page of all results: the query, its context and version are in the URL. */
class SearchPage extends HTMLElement {
  #searches = 0;

  connectedCallback(): void {
    const parameters = new URLSearchParams(location.search);
    this.#input.value = parameters.get("q") ?? "";
    const context = parameters.get("ctx") ?? "";
    if ([...this.#select.options].some(({ value }) => value === context)) this.#select.value = context;
    this.addEventListener("submit", (event) => event.preventDefault());
    this.#input.addEventListener("input", () => this.#search());
    this.#select.addEventListener("change", () => this.#search());
    this.#search();
  }

  get #input(): HTMLInputElement {
    return found(this.querySelector("input"));
  }

  get #select(): HTMLSelectElement {
    return found(this.querySelector("select"));
  }

  #search(): void {
    const query = this.#input.value.trim();
    const context = this.#select.value;
    const version = new URLSearchParams(location.search).get("version");
    this.#updateUrl(query, context, version);
    const place = found(this.querySelector<HTMLElement>(".hits"));
    const turn = ++this.#searches;
    void showLoaded(place, async () => {
      if (query === "") return place.replaceChildren();
      const engine = await loadEngine(version ?? undefined, context === "" ? undefined : context);
      const { hits, pages } = await engine.search(query, MAX_HITS);
      if (turn === this.#searches) place.replaceChildren(...list(hits, pages, tokens(query)));
    });
  }

  #updateUrl(query: string, context: string, version: string | null): void {
    const title = query === "" ? "Search the documentation" : `Search results for “${query}”`;
    document.title = `${title} | Tifo`;
    found(document.querySelector("h1")).textContent = title;
    const parameters = new URLSearchParams();
    if (query !== "") parameters.set("q", query);
    if (context !== "") parameters.set("ctx", context);
    if (version !== null) parameters.set("version", version);
    history.replaceState(history.state, "", parameters.size > 0 ? `?${parameters}` : location.pathname);
  }
}

function list(hits: Hit[], pages: number, words: readonly string[]): HTMLElement[] {
  const count = document.createElement("p");
  count.className = "count";
  count.role = "status";
  count.textContent = hits.length === 0 ? "No results" : pages === 1 ? "1 document found" : `${pages} documents found`;
  return [count, ...hits.map((hit) => article(hit, words))];
}

function article(hit: Hit, words: readonly string[]): HTMLElement {
  const box = document.createElement("article");
  box.className = hit.kind;
  const heading = document.createElement("h2");
  const link = document.createElement("a");
  link.href = hit.url;
  link.textContent = cutTitle(hit.title, words, TITLE_LIMIT);
  heading.append(link);
  const excerpt = document.createElement("p");
  excerpt.innerHTML = hit.excerpt;
  const where = document.createElement("p");
  where.className = "where";
  where.textContent = hit.kind === "heading" ? `${hit.page} · ${hit.url}` : hit.url;
  box.append(heading, where, excerpt);
  return box;
}

function found<Part>(part: Part | null): Part {
  if (part === null) throw new Error("The search page is incomplete.");
  return part;
}

/** Registers `<tifo-search-page>`. */
export function defineSearchPage(): void {
  customElements.define("tifo-search-page", SearchPage);
}
