import { showLoaded } from "../shell/loadable.ts";
import { type Hit, loadEngine, type Results } from "./engine.ts";
import { cutTitle, tokens } from "./query.ts";

/** Each page of the results is a request. */
const BATCH = 10;
const TITLE_LIMIT = 100;

/** The page of all results: the query, its context and version are in the URL. */
class SearchPage extends HTMLElement {
  #searches = 0;

  connectedCallback(): void {
    const parameters = new URLSearchParams(location.search);
    // The reader may have typed already.
    this.#input.value ||= parameters.get("q") ?? "";
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
      const results = await engine.search(query);
      const first = await results.read(0, BATCH);
      const similar = results.pages > 0 ? [] : await this.#similar(query, context, version ?? undefined);
      if (turn !== this.#searches) return;
      const words = tokens(query);
      place.replaceChildren(count(results.pages, similar.length), ...[...first, ...similar].map((hit) => article(hit, words)));
      if (results.pages > BATCH) place.append(moreButton(results, words));
    });
  }

  /** Where no page has all the words: those that have similar ones. */
  async #similar(query: string, context: string, version: string | undefined): Promise<Hit[]> {
    const file = document.querySelector<HTMLElement>("tifo-search")?.dataset.index;
    if (file === undefined) return [];
    // Few queries need it.
    const { loadRanking } = await import("./load-ranking.ts");
    const ranking = await loadRanking(file, version);
    const label = [...this.#select.options].find(({ value }) => value === context && value !== "")?.text;
    return ranking
      .search(query, BATCH)
      .filter(({ crumb }) => label === undefined || crumb === label)
      .map(({ type, title, page, url, description }) => ({
        kind: type === 1 ? "heading" : "page",
        title,
        page,
        url,
        excerpt: escaped(description),
      }));
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

function count(pages: number, similar: number): HTMLElement {
  const line = document.createElement("p");
  line.className = "count";
  line.role = "status";
  const found = pages === 1 ? "1 document found" : `${pages} documents found`;
  line.textContent = pages > 0 ? found : similar > 0 ? "No document contains these words. Similar:" : "No results";
  return line;
}

/** Adds the next results in its place, until all are shown. */
function moreButton(results: Results, words: readonly string[]): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Show more";
  let shown = BATCH;
  button.addEventListener("click", () => {
    const from = shown;
    shown += BATCH;
    results
      .read(from, BATCH)
      .then((hits) => {
        button.before(...hits.map((hit) => article(hit, words)));
        if (shown >= results.pages) button.remove();
      })
      .catch(console.warn);
  });
  return button;
}

function escaped(text: string): string {
  const span = document.createElement("span");
  span.textContent = text;
  return span.innerHTML;
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
