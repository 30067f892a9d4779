import { loadRanking } from "./load-ranking.ts";
import { cutTitle, tokens } from "./query.ts";
import type { RankedHit, Ranking } from "./ranking.ts";
import { terms } from "./words.ts";

const MAX_HITS = 8;

/** The search box of the navbar; starts loading its index immediately. Without scripts it links to the results page. */
class SearchBox extends HTMLElement {
  #searches = 0;
  #selected = -1;

  connectedCallback(): void {
    const input = this.#input;
    input.addEventListener("input", () => void this.#search());
    input.addEventListener("focus", () => void this.#search());
    this.addEventListener("keydown", (event) => this.#onKey(event));
    for (const kind of ["mousedown", "touchstart", "focusin"]) document.addEventListener(kind, this.#closeFromOutside);
    // The reader who triggered the script has already focused the box.
    this.#preload();
    if (document.activeElement === input) void this.#search();
  }

  disconnectedCallback(): void {
    for (const kind of ["mousedown", "touchstart", "focusin"]) document.removeEventListener(kind, this.#closeFromOutside);
  }

  readonly #closeFromOutside = ({ target }: Event): void => {
    if (!(target instanceof Node && this.contains(target))) this.#show(false);
  };

  get #input(): HTMLInputElement {
    const input = this.querySelector("input");
    if (!input) throw new Error("The search box has no input.");
    return input;
  }

  #part(selector: string): HTMLElement {
    const part = this.querySelector<HTMLElement>(selector);
    if (!part) throw new Error(`The search box has no ${selector}.`);
    return part;
  }

  /** The search retries a load that fails here, and reports the error. */
  #preload(): void {
    this.#ranking().catch(() => undefined);
  }

  async #ranking(): Promise<Ranking> {
    return await loadRanking(this.dataset.index ?? "");
  }

  async #search(): Promise<void> {
    const query = this.#input.value;
    const turn = ++this.#searches;
    if (query.trim() === "") return this.#show(false);
    this.#part(".ring").hidden = false;
    try {
      const ranking = await this.#ranking();
      if (turn === this.#searches) this.#list(query, ranking.search(query, MAX_HITS, this.dataset.label));
    } catch (error) {
      if (turn === this.#searches) this.#showMessage(`Search isn't available: ${String(error)}`);
    } finally {
      if (turn === this.#searches) this.#part(".ring").hidden = true;
    }
  }

  #list(query: string, hits: RankedHit[]): void {
    this.#showMessage(hits.length === 0 ? "No results" : "");
    this.#part(".count").textContent = hits.length === 0 ? "No results" : `${hits.length} ${hits.length === 1 ? "result" : "results"}`;
    const words = tokens(query);
    this.#part("ul").replaceChildren(...hits.map((hit, at) => option(hit, at, words)));
    if (hits.length > 0) this.#part(".all").replaceChildren(...this.#linksToAll(query));
  }

  #showMessage(message: string): void {
    this.#part(".message").textContent = message;
    this.#part("ul").replaceChildren();
    this.#part(".all").replaceChildren();
    this.#selected = -1;
    this.#show(true);
  }

  #linksToAll(query: string): HTMLAnchorElement[] {
    const { context, label } = this.dataset;
    const all = link(`/search?${new URLSearchParams({ q: query })}`, "See all results");
    if (context === undefined || label === undefined) return [all];
    return [all, link(`/search?${new URLSearchParams({ q: query, ctx: context })}`, `See all results within “${label}”`)];
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.#show(false);
    const options = [...this.querySelectorAll<HTMLAnchorElement>("[role=option]")];
    if (event.target !== this.#input || options.length === 0) return;
    if (event.key === "Enter" && this.#selected >= 0) {
      event.preventDefault();
      options[this.#selected]?.click();
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    this.#selected = (this.#selected + step + options.length + (this.#selected < 0 && step < 0 ? 1 : 0)) % options.length;
    for (const [at, one] of options.entries()) one.setAttribute("aria-selected", String(at === this.#selected));
    const chosen = options[this.#selected];
    chosen?.scrollIntoView({ block: "nearest" });
    this.#input.setAttribute("aria-activedescendant", chosen?.id ?? "");
  }

  #show(open: boolean): void {
    this.#part(".panel").hidden = !open;
    this.#input.setAttribute("aria-expanded", String(open));
    if (!open) this.#input.removeAttribute("aria-activedescendant");
  }
}

function option(hit: RankedHit, at: number, words: readonly string[]): HTMLElement {
  const item = link(hit.url, "");
  item.id = `tifo-search-hit-${at}`;
  item.role = "option";
  item.className = hit.type === 1 ? "heading" : "page";
  item.ariaSelected = "false";
  item.tabIndex = -1;
  const title = document.createElement("span");
  title.className = "title";
  title.append(...marked(cutTitle(hit.title, words), hit.tokens));
  const where = document.createElement("span");
  where.className = "where";
  const detail = hit.type === 1 ? hit.page : hit.description;
  where.textContent = detail === "" ? hit.crumb : `${hit.crumb} · ${detail}`;
  item.append(title, where);
  const row = document.createElement("li");
  row.role = "presentation";
  row.append(item);
  return row;
}

/** A text with the words that matched in `<mark>`. */
function marked(text: string, matched: readonly string[]): Node[] {
  return text.split(/([\p{L}\p{N}_]+)/u).map((part) => {
    if (!terms(part).some((word) => matched.includes(word))) return document.createTextNode(part);
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

function link(href: string, text: string): HTMLAnchorElement {
  const anchor = document.createElement("a");
  anchor.href = href;
  anchor.textContent = text;
  return anchor;
}

/** Registers `<tifo-search>` once. */
export function defineSearchBox(): void {
  if (!customElements.get("tifo-search")) customElements.define("tifo-search", SearchBox);
}
