import { listAt, numberAt, textAt } from "./fields.ts";
import { REQUEST_SENT, sentRequests } from "./requests.ts";
import type { Sandbox } from "./sandbox.ts";

const REFRESH_MS = 3_000;
/** Events in the list, newest first. */
const SHOWN = 30;
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/**
 * Keeps the lists of a page up to date while it is visible: the sandbox's events in `[data-list=events]`, and the requests that these
 * pages have sent in `[data-list=requests]`.
 */
export class Activity {
  readonly #place: Element;
  readonly #sandbox: () => Sandbox | undefined;
  readonly #more: (sandbox: Sandbox) => Promise<void>;
  #after: number | undefined;
  /** The refresh that is running. */
  #running: symbol | undefined;

  /** @param more reads what else the page shows, as often as the events */
  constructor(place: Element, sandbox: () => Sandbox | undefined, more: (sandbox: Sandbox) => Promise<void> = async () => {}) {
    this.#place = place;
    this.#sandbox = sandbox;
    this.#more = more;
  }

  /** Runs until `signal` is aborted. */
  start(signal: AbortSignal): void {
    for (const name of [REQUEST_SENT, "storage"]) window.addEventListener(name, () => this.#showRequests(), { signal });
    // What a request has changed is shown at once.
    window.addEventListener(REQUEST_SENT, () => void this.#refresh(), { signal });
    const timer = setInterval(() => document.visibilityState === "visible" && void this.#refresh(), REFRESH_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
    this.restart();
  }

  /** Begins again, with another sandbox. */
  restart(): void {
    this.#after = undefined;
    this.#running = undefined;
    this.list("events", []);
    this.#showRequests();
    void this.#refresh();
  }

  /** Shows lines, newest first. */
  list(name: string, lines: string[]): void {
    const items = lines.length > 0 ? lines : ["None yet."];
    this.#place.querySelector(`[data-list=${name}]`)?.replaceChildren(
      ...items.map((line) => {
        const item = document.createElement("li");
        item.textContent = line;
        item.toggleAttribute("data-line", lines.length > 0);
        return item;
      }),
    );
  }

  #showRequests(): void {
    this.list(
      "requests",
      sentRequests().map(({ at, method, path, status }) => `${CLOCK.format(at)} ${method} ${path} → ${status}`),
    );
  }

  async #refresh(): Promise<void> {
    const sandbox = this.#sandbox();
    if (!sandbox || this.#running) return;
    const running = Symbol();
    this.#running = running;
    try {
      // The latest at first, then what has been added since.
      const after = this.#after ?? Math.max(0, numberAt(await read("/webhooks/v1/events?limit=1", sandbox), "head") - SHOWN);
      const response = await read(`/webhooks/v1/events?after=${after}&limit=200`, sandbox);
      if (this.#running !== running) return;
      const lines = listAt(response, "results").map(
        (event) => `${clock(numberAt(event, "created"))} ${textAt(event, "type")} ${textAt(event, "resource")}`,
      );
      this.#after = Math.max(after, numberAt(response, "after"));
      if (lines.length > 0) this.list("events", [...lines.toReversed(), ...this.#lines("events")].slice(0, SHOWN));
      await this.#more(sandbox);
    } catch (error) {
      console.warn("The sandbox's events couldn't be read; the next attempt follows.", error);
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  #lines(name: string): string[] {
    return [...this.#place.querySelectorAll(`[data-list=${name}] li[data-line]`)].map((line) => line.textContent);
  }
}

/** The time of day, as the lists show it. */
export function clock(time: number): string {
  return CLOCK.format(time);
}

/** What the server returns to the sandbox's key. */
export async function read(path: string, { siteId, developerKey }: Sandbox): Promise<unknown> {
  const response = await fetch(path, { headers: { "Tifo-Client-Id": siteId, "Tifo-Developer-Key": developerKey } });
  if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
  return response.json();
}
