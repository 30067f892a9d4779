import css from "./activity.css?inline";
import { Activity } from "./activity.ts";
import { REQUEST_SENT } from "./requests.ts";
import type { Sandbox } from "./sandbox.ts";

const PARTS = `<summary>Your sandbox, live</summary>
<div class="parts">
  <section><h3 id="activity-events">Events</h3><ol data-list="events" tabindex="0" aria-labelledby="activity-events"></ol></section>
  <section><h3 id="activity-requests">Requests from these pages</h3><ol data-list="requests" tabindex="0" aria-labelledby="activity-requests"></ol></section>
  <p><a href="/sandbox">Credentials, email, and keeping it</a></p>
</div>`;

let current: () => Sandbox | undefined = () => undefined;

/** What happens in the reader's sandbox, beside the samples that use it. It reads events while it is open. */
class ActivityElement extends HTMLElement {
  #stop = new AbortController();

  connectedCallback(): void {
    const details = document.createElement("details");
    details.innerHTML = PARTS;
    this.classList.add("not-content");
    this.replaceChildren(details);
    details.addEventListener("toggle", () => this.#follow(details));
    // A request of the page is what the reader waits for.
    window.addEventListener(REQUEST_SENT, () => void (details.open = true), { once: true });
    details.open = !this.hasAttribute("data-dock");
  }

  disconnectedCallback(): void {
    this.#stop.abort();
  }

  #follow(details: HTMLDetailsElement): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    if (details.open) new Activity(details, current).start(this.#stop.signal);
  }
}

/** Fills the page's place for it; on other pages with samples, a closed box in the corner. The sandbox's own page has its own lists. */
export function showActivity(sandbox: () => Sandbox | undefined): void {
  const isBesideSamples = document.querySelector("main :is(pre, tifo-activity)") && !document.querySelector("tifo-sandbox");
  if (!isBesideSamples) return;
  current = sandbox;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
  customElements.define("tifo-activity", ActivityElement);
  if (document.querySelector("tifo-activity")) return;
  const dock = document.createElement("tifo-activity");
  dock.toggleAttribute("data-dock", true);
  // A landmark of its own, beside `main`: the list of headings would cover whatever is in there.
  dock.role = "complementary";
  dock.ariaLabel = "Your sandbox";
  document.body.append(dock);
}
