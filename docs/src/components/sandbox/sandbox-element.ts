import { storedCredentials } from "../key/credentials.ts";
import { fillCredentials } from "../key/fill-samples.ts";
import { Activity, clock, read } from "./activity.ts";
import { listAt, numberAt, textAt } from "./fields.ts";
import { proofFor } from "./prove.ts";
import { recordRequest } from "./requests.ts";
import { forgetSandbox, keepSandbox, type Sandbox, sandboxIn, storedSandbox } from "./sandbox.ts";

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** Creates, shows, claims and discards the reader's sandbox, and lists what happens in it. */
class SandboxElement extends HTMLElement {
  readonly #stop = new AbortController();
  readonly #activity = new Activity(this, storedSandbox, async (sandbox) => {
    const mails = listAt(await read("/site/v1/sandbox", sandbox), "mails").map(
      (mail) => `${clock(numberAt(mail, "created"))} to ${textAt(mail, "to")}: ${textAt(mail, "subject")}\n${textAt(mail, "text")}`,
    );
    this.#activity.list("mails", mails);
  });

  connectedCallback(): void {
    for (const name of ["create", "discard"] as const)
      this.querySelector(`[data-do=${name}]`)?.addEventListener("click", () => void this.#attempt(() => this[name]()));
    const form = this.querySelector("form");
    form?.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#attempt(() => this.claim(new FormData(form)));
    });
    this.#show();
    this.#activity.start(this.#stop.signal);
  }

  disconnectedCallback(): void {
    this.#stop.abort();
  }

  async create(): Promise<string> {
    const proof = await proofFor(await send("GET", "/site/v1/sandbox/challenge"));
    const response = await send("POST", "/site/v1/sandbox", proof);
    keepSandbox(sandboxIn(response));
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
    this.#activity.restart();
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

customElements.define("tifo-sandbox", SandboxElement);
