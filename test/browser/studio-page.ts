import type { Browser, Page } from "playwright-core";
import { z } from "@hono/zod-openapi";
import { DEMO_SUPER_KEY } from "#scripts/lib/state.ts";
import { axeViolations } from "./axe.ts";
import { collectErrors } from "./site.ts";

const Created = z.object({ site: z.object({ _id: z.string() }), developerKey: z.string() });
const Tokens = z.object({ jwt: z.string(), refreshToken: z.string() });
const Item = z.object({ _id: z.string() });

/** Markup that would set `window.ran` if a page ran it. */
export const SCRIPT = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>`;
/** React Aria's live region: for seconds, it refers to the pressed button by its id, also after the button has gone. */
export const ANNOUNCER = "[data-live-announcer]";
/** Of every account of a `StudioSite`. */
export const STUDIO_PASSWORD = "studio-member-pass";

export interface Member {
  id: string;
  tokens: z.output<typeof Tokens>;
}

/** A site of its own on the shared deployment, which no other test changes. */
export class StudioSite {
  readonly url: string;
  readonly id: string;
  readonly key: string;

  private constructor(url: string, id: string, key: string) {
    this.url = url;
    this.id = id;
    this.key = key;
  }

  /** By default, its names have markup that must not run. */
  static async create(url: string, slug: string, names = { site: `Site ${SCRIPT}`, admin: `Ada ${SCRIPT}` }): Promise<StudioSite> {
    const admin = { email: `admin@${slug}.example`, password: STUDIO_PASSWORD, name: names.admin };
    const body = { name: names.site, slug, admin };
    const { site, developerKey } = Created.parse(await call(url, "POST", "/site/v1", body, { "Tifo-Super-Key": DEMO_SUPER_KEY }));
    return new StudioSite(url, site._id, developerKey);
  }

  /** Calls the API as the site's developer key, or as an account. */
  call(method: string, path: string, body?: unknown, member?: Member): Promise<unknown> {
    const as: Record<string, string> = member ? { Authorization: `Bearer ${member.tokens.jwt}` } : { "Tifo-Developer-Key": this.key };
    return call(this.url, method, path, body, { "Tifo-Client-Id": this.id, ...as });
  }

  /** Creates something, and returns its id. */
  async create(path: string, body: unknown, member?: Member): Promise<string> {
    return Item.parse(await this.call("POST", path, body, member))._id;
  }

  async admin(slug: string): Promise<Member> {
    return { id: "", tokens: await this.#signIn(`admin@${slug}.example`) };
  }

  async member(name: string, email: string, roles: unknown[] = []): Promise<Member> {
    const { _id } = Item.parse(await this.call("PUT", "/account/v3", { email, password: STUDIO_PASSWORD, name, roles }));
    return { id: _id, tokens: await this.#signIn(email) };
  }

  async #signIn(email: string): Promise<z.output<typeof Tokens>> {
    return Tokens.parse(await call(this.url, "POST", "/auth/v2/login", { email, password: STUDIO_PASSWORD, siteId: this.id }, {}));
  }

  /** Opens a screen of Studio as an account. */
  async open(
    browser: Browser,
    screen: string,
    { tokens }: Member,
    reducedMotion: "reduce" | "no-preference" = "reduce",
  ): Promise<{ page: Page; errors: string[] }> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion });
    const page = await context.newPage();
    const errors = collectErrors(page, this.url);
    // Sandboxed frames have no storage.
    await page.addInitScript(([key, value]) => origin === "null" || localStorage.getItem(key) || localStorage.setItem(key, value), [
      `tifo.studio.session.${this.id}`,
      JSON.stringify(tokens),
    ] as const);
    await page.goto(`${this.url}/studio${screen}?site=${this.id}`);
    return { page, errors };
  }
}

/** What axe finds on the whole screen, and markup that has run. */
export async function violationsOf(page: Page, exclude: string[] = []): Promise<string[]> {
  const found = await axeViolations(page, { exclude });
  return (await page.evaluate("window.ran")) === undefined ? found : [...found, "a script of somebody else has run"];
}

async function call(url: string, method: string, path: string, body: unknown, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`);
  return text === "" ? null : JSON.parse(text);
}
