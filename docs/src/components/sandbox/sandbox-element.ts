import { storedCredentials } from "../key/credentials.ts";
import { fillCredentials } from "../key/fill-samples.ts";
import { REQUEST_SENT, recordRequest, sentRequests } from "./requests.ts";
import { forgetSandbox, keepSandbox, type Sandbox, sandboxIn, storedSandbox } from "./sandbox.ts";

const REFRESH_MS = 3_000;
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
/** Events in the list, newest first. */
const SHOWN = 30;

/** Creates, shows, claims and discards the reader's sandbox, and lists what happens in it. */
class SandboxElement extends HTMLElement {
  readonly #stop = new AbortController();
  #after = 0;
  #refreshing = false;

  connectedCallback(): void {
    const { signal } = this.#stop;
    for (const name of ["create", "discard"] as const)
      this.querySelector(`[data-do=${name}]`)?.addEventListener("click", () => void this.#attempt(() => this[name]()));
    const form = this.querySelector("form");
    form?.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#attempt(() => this.claim(new FormData(form)));
    });
    for (const name of [REQUEST_SENT, "storage"]) window.addEventListener(name, () => this.#showRequests(), { signal });
    this.#show();
    const timer = setInterval(() => document.visibilityState === "visible" && void this.#refresh(), REFRESH_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  disconnectedCallback(): void {
    this.#stop.abort();
  }

  async create(): Promise<string> {
    const response = await send("POST", "/site/v1/sandbox");
    keepSandbox(sandboxIn(response));
    this.#after = 0;
    return "Your sandbox is ready.";
  }

  async discard(): Promise<string> {
    const { claimToken } = ownSandbox();
    await send("POST", "/site/v1/sandbox/discard", { claimToken });
    forgetSandbox();
    return "The sandbox is closed, and is deleted within the hour.";
  }

  async claim(form: FormData): Promise<string> {
    const { claimToken, siteId } = ownSandbox();
    const text = (name: string): string => {
      const value = form.get(name);
      return typeof value === "string" ? value : "";
    };
    const person = { email: text("email"), name: text("name"), password: text("password") };
    await send("POST", "/site/v1/sandbox/claim", { claimToken, ...person });
    forgetSandbox();
    return `The site ${siteId} is yours and is kept. Sign in to Studio with your email address; its developer key still works.`;
  }

  async #attempt(action: () => Promise<string>): Promise<void> {
    const buttons = this.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    const note = await action().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    for (const button of buttons) button.disabled = false;
    this.#show();
    fillCredentials(storedCredentials());
    const status = this.querySelector("[role=status]");
    if (status) status.textContent = note;
  }

  #show(): void {
    const sandbox = storedSandbox();
    this.#part("none").hidden = sandbox !== undefined;
    this.#part("own").hidden = sandbox === undefined;
    if (!sandbox) return;
    for (const place of this.querySelectorAll<HTMLElement>("[data-value]"))
      place.textContent = shown(sandbox, place.dataset["value"] ?? "");
    this.#list("events", []);
    this.#after = 0;
    this.#showRequests();
    void this.#refresh();
  }

  #showRequests(): void {
    this.#list(
      "requests",
      sentRequests().map(({ at, method, path, status }) => `${CLOCK.format(at)} ${method} ${path} → ${status}`),
    );
  }

  /** Adds the events since the last time, and shows the email. */
  async #refresh(): Promise<void> {
    const sandbox = storedSandbox();
    if (!sandbox || this.#refreshing) return;
    this.#refreshing = true;
    try {
      const headers = { "Tifo-Client-Id": sandbox.siteId, "Tifo-Developer-Key": sandbox.developerKey };
      const events = await listAt(`/webhooks/v1/events?after=${this.#after}&limit=200`, headers, "results");
      const lines = events.map(
        (event) => `${CLOCK.format(numberAt(event, "created"))} ${textAt(event, "type")} ${textAt(event, "resource")}`,
      );
      this.#after = Math.max(this.#after, ...events.map((event) => numberAt(event, "sequence")));
      if (lines.length > 0) this.#list("events", [...lines.toReversed(), ...this.#lines("events")].slice(0, SHOWN));
      const mails = await listAt("/site/v1/sandbox", headers, "mails");
      this.#list(
        "mails",
        mails.map(
          (mail) =>
            `${CLOCK.format(numberAt(mail, "created"))} to ${textAt(mail, "to")}: ${textAt(mail, "subject")}\n${textAt(mail, "text")}`,
        ),
      );
    } catch (error) {
      console.warn("The sandbox's events couldn't be read; the next attempt follows.", error);
    } finally {
      this.#refreshing = false;
    }
  }

  #lines(name: string): string[] {
    return [...this.querySelectorAll(`[data-list=${name}] li[data-line]`)].map((line) => line.textContent);
  }

  #list(name: string, lines: string[]): void {
    const items = lines.length > 0 ? lines : ["None yet."];
    this.querySelector(`[data-list=${name}]`)?.replaceChildren(
      ...items.map((line) => {
        const item = document.createElement("li");
        item.textContent = line;
        item.toggleAttribute("data-line", lines.length > 0);
        return item;
      }),
    );
  }

  #part(name: string): HTMLElement {
    const part = this.querySelector<HTMLElement>(`[data-part=${name}]`);
    if (!part) throw new Error(`The page has no ${name}.`);
    return part;
  }
}

function ownSandbox(): Sandbox {
  const sandbox = storedSandbox();
  if (!sandbox) throw new Error("The sandbox has expired.");
  return sandbox;
}

function shown(sandbox: Sandbox, name: string): string {
  return name === "expires" ? DATE.format(sandbox.expires) : String(Reflect.get(sandbox, name));
}

/** The response's JSON. Throws with the server's message. */
async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  const init = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, ...init });
  recordRequest({ method, path, status: response.status });
  const text = await response.text();
  const json: unknown = text === "" ? undefined : JSON.parse(text);
  if (!response.ok) throw new Error(textAt(json, "message") || `The server returned ${response.status}.`);
  return json;
}

async function listAt(path: string, headers: Record<string, string>, name: string): Promise<unknown[]> {
  const response = await fetch(path, { headers });
  if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
  const list: unknown = at(await response.json(), name);
  return Array.isArray(list) ? list.map((item: unknown) => item) : [];
}

function at(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function textAt(value: unknown, name: string): string {
  const text = at(value, name);
  return typeof text === "string" ? text : "";
}

function numberAt(value: unknown, name: string): number {
  return Number(at(value, name) ?? 0);
}

customElements.define("tifo-sandbox", SandboxElement);
