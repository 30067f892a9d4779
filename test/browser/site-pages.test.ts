import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BuiltPage, elements, lineOf, metaOf, readPage } from "#docs/src/publish/html.ts";
import { linkFaults } from "#docs/src/publish/link-check.ts";
import { APPLICATIONS, createScale } from "#docs/src/publish/page-weights.ts";
import { launchBrowser } from "./browser.ts";
import { collectErrors, sitemapPaths } from "./site.ts";
import { url } from "./test-server.ts";

const ROOT = "docs/dist";
const BUILT_FOR = "http://localhost:8787";
const PAGE_BYTES = 45_000;
const SCRIPT_BYTES = 15_000;

// Colours don't depend on the width, nor structure on the theme: two views cover both themes and both widths. What a page
// contains is the same in both, so that the second needs only the rules on looks, unless the page has a new header or menu.
const VIEWS = [
  { width: 1280, theme: "light" },
  { width: 375, theme: "dark" },
] as const;
const NEW_SHELL = ":is(tifo-header, tifo-menu):not([data-checked])";
const RULES_ON_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

const Violations = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() }).loose()) }).loose());

let browser: Browser;
let axe: string;
const pages: BuiltPage[] = [];
const files = new Set<string>();

beforeAll(async () => {
  browser = await launchBrowser();
  axe = await readFile("node_modules/axe-core/axe.min.js", "utf8");
  for await (const file of glob("**/*.*", { cwd: ROOT })) {
    files.add(file);
    if (file.endsWith(".html") && file !== "overlay-frame.html") pages.push(readPage(file, await readFile(join(ROOT, file), "utf8")));
  }
});

afterAll(() => browser.close());

test("every link, anchor and image of every page has a valid target, and nothing comes from another host", () => {
  expect(linkFaults(pages, files, BUILT_FOR)).toEqual([]);
});

test("every page has a description of at most 160 characters", () => {
  const listed = pages.filter((page) => metaOf(page, "robots") !== "noindex" && page.path !== "/404");
  for (const page of listed) expect(metaOf(page, "description") ?? "", page.path).toMatch(/^.{1,160}$/);
});

test("no heading is called Overview, like the first entry of the list of headings", () => {
  for (const { path, document } of pages) {
    const headings = [...elements(document)].filter(({ tagName }) => /^h[23]$/.test(tagName)).map(lineOf);
    expect(headings, path).not.toContain("Overview");
  }
});

test("the debug pages and the search page are neither listed nor indexed", async () => {
  const hidden = pages.filter(({ path }) => path.startsWith("/__debug/") || path === "/search");
  expect(hidden).toHaveLength(7);
  for (const page of hidden) expect(metaOf(page, "robots"), page.path).toBe("noindex");
  const listed = await sitemapPaths(url);
  expect(listed.filter((path) => path.startsWith("/__debug") || path === "/search" || path === "/404")).toEqual([]);
});

test("crawlers find the sitemap", async () => {
  const [, sitemap = ""] = /^Sitemap: (.+)$/m.exec(await readFile(join(ROOT, "robots.txt"), "utf8")) ?? [];
  expect(sitemap).toBe(`${BUILT_FOR}/sitemap-index.xml`);
  expect(files).toContain("sitemap-index.xml");
});

test("every page in the sitemap has a Markdown version, which llms.txt lists", async () => {
  const list = await readFile(join(ROOT, "llms.txt"), "utf8");
  for (const path of await sitemapPaths(url)) {
    if (path === "/api/rest") continue;
    const twin = path === "/" ? "/index.md" : `${path}.md`;
    expect(files.has(twin.slice(1)), twin).toBe(true);
    expect(list).toContain(`(${BUILT_FOR}${twin})`);
  }
});

test("the addresses of `_redirects` lead to pages that exist, with a permanent redirect", async () => {
  const lines = (await readFile("docs/public/_redirects", "utf8")).split("\n").filter((line) => line.endsWith(" 301"));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const [from = "", to = ""] = line.split(" ");
    const response = await fetch(url + from, { redirect: "manual" });
    expect([response.status, response.headers.get("location")], from).toEqual([301, to]);
    expect(
      pages.map(({ path }) => path),
      from,
    ).toContain(to);
    expect(
      pages.map(({ path }) => path),
      from,
    ).not.toContain(from);
  }
});

test("a page is at most 45 kB over the wire, including at most 15 kB of scripts", async () => {
  const weigh = createScale(ROOT);
  for (const page of pages) {
    if (APPLICATIONS.includes(page.path)) continue;
    const { html, styles, scripts } = await weigh(page);
    expect(scripts, `scripts of ${page.path}`).toBeLessThanOrEqual(SCRIPT_BYTES);
    expect(html + styles + scripts, page.path).toBeLessThanOrEqual(PAGE_BYTES);
  }
});

test("no header exceeds the platform's limit", async () => {
  const headers = await readFile(join(ROOT, "_headers"), "utf8");
  for (const line of headers.split("\n")) expect(line.length).toBeLessThanOrEqual(2000);
  expect(headers).toMatch(/script-src 'self' 'wasm-unsafe-eval' 'sha256-/);
  expect(headers).not.toMatch(/script-src[^;]*'unsafe-(inline|eval)'/);
});

test(
  "no page has an accessibility violation in any theme or width, an error, a layout shift or horizontal scrolling",
  async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const queue = await pathsToCheck();
    const errors: string[] = [];
    const checked = new Set<string>();
    await Promise.all([checkPages(context, queue, checked, errors), checkPages(context, queue, checked, errors)]);
    await context.close();
    expect(errors).toEqual([]);
  },
  10 * 60_000,
);

/** Every page of the site, but only one in thirty of the generated operation pages. The explorer is third-party. */
async function pathsToCheck(): Promise<string[]> {
  const listed = await sitemapPaths(url);
  const isOperation = (path: string): boolean => path.startsWith("/docs/api-reference/");
  const operations = listed.filter(isOperation).filter((_, at) => at % 30 === 0);
  const others = listed.filter((path) => !isOperation(path) && path !== "/api/rest");
  return [...others, ...operations, "/search?q=overlay", "/__debug/config", "/404"];
}

async function checkPages(context: BrowserContext, queue: string[], checked: Set<string>, errors: string[]): Promise<void> {
  const page = await context.newPage();
  const pageErrors = collectErrors(page, url);
  await page.addInitScript(sumShifts);
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    // Before the navigation: a resized page shifts.
    await page.setViewportSize({ width: VIEWS[0].width, height: 800 });
    await page.goto(url + path);
    const shift = await page.evaluate(() => Number(document.documentElement.dataset["shift"] ?? 0));
    if (shift > 0.01) errors.push(`${path} shifts by ${shift}`);
    await page.evaluate(axe);
    for (const part of await page.evaluate(leaveOutChecked, [...checked])) checked.add(part);
    const onlyLooks = (await page.locator(NEW_SHELL).count()) === 0;
    for (const { width, theme } of VIEWS) {
      await page.setViewportSize({ width, height: 800 });
      const looks = await page.evaluate(applyTheme, theme);
      const hasNewLooks = looks === null || looks.some((look) => !checked.has(look));
      for (const look of looks ?? []) checked.add(look);
      const rules = onlyLooks && theme === "dark" ? RULES_ON_LOOKS : null;
      const found: unknown = await page.evaluate(runAxe, { rules, hasNewLooks });
      for (const { id, nodes } of Violations.parse(found)) {
        errors.push(`${path} (${theme}, ${width} px): ${id} ${nodes.map(({ html }) => html).join(" ")}`);
      }
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (overflow > 0) errors.push(`${path} is ${overflow} px too wide at ${width} px`);
      const isPhone = width < 640;
      if (isPhone && (await page.evaluate(scrollsStacked))) errors.push(`${path} has a table whose rows don't fit ${width} px`);
    }
  }
  errors.push(...pageErrors);
  await page.close();
}

/** Runs in the page: whether a table that phones show row by row doesn't fit. */
function scrollsStacked(): boolean {
  return [...document.querySelectorAll(".stacked")].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
}

/** Runs in the page: sums up layout shifts that no input has caused. */
function sumShifts(): void {
  new PerformanceObserver((list) => {
    const root = document.documentElement;
    for (const entry of list.getEntries()) {
      const shift = "value" in entry && "hadRecentInput" in entry && entry.hadRecentInput === false ? Number(entry.value) : 0;
      root.dataset["shift"] = String(Number(root.dataset["shift"] ?? 0) + shift);
    }
  }).observe({ type: "layout-shift", buffered: true });
}

/**
 * Runs in the page: marks the parts of the shell that an earlier page had too, and makes plain text of lines of code whose colours
 * are all known. Returns what is new, which axe checks. Most of a page's elements are such parts.
 */
function leaveOutChecked(known: string[]): string[] {
  const checked = new Set(known);
  const found = new Set<string>();
  const isNew = (part: string): boolean => {
    let hash = 0;
    for (let at = 0; at < part.length; at++) hash = Math.imul(hash ^ part.charCodeAt(at), 0x01000193);
    const key = `${part.length} ${hash}`;
    if (!checked.has(key)) found.add(key);
    return !checked.has(key);
  };
  for (const part of document.querySelectorAll("tifo-header, .site-footer")) part.toggleAttribute("data-checked", !isNew(part.outerHTML));
  for (const menu of document.querySelectorAll("tifo-menu")) {
    // The link to the page itself differs; each section's first page is checked with one.
    menu.toggleAttribute("data-checked", !isNew(menu.outerHTML.replaceAll(/ aria-current="\w+"/g, "")));
  }
  for (const line of document.querySelectorAll(".ec-line")) {
    const around = `${line.className} ${line.closest("figure")?.className ?? ""}`;
    const colours = Array.from(line.querySelectorAll("[style]"), (token) => `${around} ${token.getAttribute("style") ?? ""}`);
    const code = line.querySelector(".code") ?? line;
    if (!colours.map(isNew).includes(true)) code.textContent = code.textContent;
  }
  return [...found];
}

/**
 * Runs in the page: applies a theme, and returns how the visible text looks, with all on which its contrast depends. The contrast of what an
 * earlier page had needs no second check, which takes axe half of its time. Null if not all text can be seen from here.
 */
async function applyTheme(theme: string): Promise<string[] | null> {
  document.documentElement.dataset["theme"] = theme;
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  // React applies the theme to the SDK's panels some frames later; those with a mode of their own never follow.
  const hasOtherMode = () => document.querySelector(`.tifo:not([data-mode="${theme}"])`) !== null;
  for (let frame = 0; frame < 2 || (frame < 120 && hasOtherMode()); frame++) await nextFrame();
  if ([...document.querySelectorAll("*")].some(({ shadowRoot }) => shadowRoot !== null)) return null;
  const backdrops = new Map<Element, { colours: string; opacity: number }>();
  const backdropOf = (element: Element | null): { colours: string; opacity: number } => {
    if (!element) return { colours: "", opacity: 1 };
    const known = backdrops.get(element);
    if (known) return known;
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
    const behind = backdropOf(element.parentElement);
    const own = `${backgroundColor} ${backgroundImage}`;
    const isClear = own === "rgba(0, 0, 0, 0) none";
    const colours = isClear ? behind.colours : backgroundColor.startsWith("rgb(") ? own : `${own} over ${behind.colours}`;
    const backdrop = { colours, opacity: Number(opacity) * behind.opacity };
    backdrops.set(element, backdrop);
    return backdrop;
  };
  const looks = new Set<string>();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (!element || text.nodeValue?.trim() === "" || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const { colours, opacity } = backdropOf(element);
    looks.add(`${color} ${fontSize} ${fontWeight} ${textShadow} at ${opacity} on ${colours}`);
  }
  return [...looks];
}

interface AxeOptions {
  /** Null: all rules. */
  rules: string[] | null;
  hasNewLooks: boolean;
}

/** Runs in the page: axe's violations; of the rule on contrast only if there are looks that no page had before. */
async function runAxe({ rules, hasNewLooks }: AxeOptions): Promise<unknown> {
  const runner: unknown = Reflect.get(window, "axe");
  if (typeof runner !== "object" || runner === null) throw new Error("axe isn't loaded.");
  const run: unknown = Reflect.get(runner, "run");
  if (typeof run !== "function") throw new Error("axe has no run function.");
  const chosen = rules
    ? { runOnly: rules.filter((rule) => hasNewLooks || rule !== "color-contrast") }
    : { rules: { "color-contrast": { enabled: hasNewLooks } } };
  // The default also loads the styles a second time, for a rule that isn't enabled.
  const options = { resultTypes: ["violations"], iframes: false, preload: { assets: ["media"] }, ...chosen };
  const result: unknown = await Reflect.apply(run, runner, [{ exclude: ["[data-checked]"] }, options]);
  return typeof result === "object" && result !== null ? Reflect.get(result, "violations") : undefined;
}
