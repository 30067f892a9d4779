import { createServer, type ServerResponse } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { url } from "./test-server.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

// Chromium paints nothing before a page's style sheets have arrived, but tells where things would be without them.
const STYLED = "document.body && [...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet)";

/** Opens a page whose document arrives only up to some markup, and waits for its style sheets. `arrive` sends the rest, and returns once the page has loaded. */
async function openUpTo(path: string, markup: string): Promise<{ page: Page; arrive: () => Promise<void> }> {
  const document = await (await fetch(url + path)).text();
  const at = document.indexOf(markup);
  if (at === -1) throw new Error(`${path} has no ${markup}.`);
  const half = Promise.withResolvers<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.url !== path) return void pass(request.url ?? "/", response);
    response.writeHead(200, { "Content-Type": "text/html" }).write(document.slice(0, at));
    half.resolve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`http://127.0.0.1:${address.port}${path}`, { waitUntil: "commit" });
  await page.waitForFunction(STYLED);
  const arrive = async (): Promise<void> => {
    (await half.promise).end(document.slice(at));
    await page.waitForLoadState("load");
    server.close();
  };
  return { page, arrive };
}

/** Answers with what the site answers. */
async function pass(path: string, response: ServerResponse): Promise<void> {
  const { status, headers, body } = await fetch(url + path);
  response.writeHead(status, { "Content-Type": headers.get("content-type") ?? "" });
  for await (const part of body ?? []) response.write(part);
  response.end();
}

/** Where an element is, in CSS pixels. */
async function boxOf(page: Page, selector: string): Promise<{ x: number; y: number; height: number }> {
  const box = await page.locator(selector).boundingBox();
  if (box === null) throw new Error(`${selector} isn't shown.`);
  return box;
}

describe("a page that arrives slowly", () => {
  test("leaves room for the announcement before that has arrived", async () => {
    const { page, arrive } = await openUpTo("/guides/deploy", "<tifo-announcement");
    await page.locator("tifo-header").waitFor({ state: "attached" });
    const early = await boxOf(page, "tifo-header");
    await arrive();
    expect((await boxOf(page, "tifo-header")).height).toBe(early.height);
    expect(await page.locator("tifo-announcement").isVisible()).toBe(true);
    await page.close();
  });

  test.each([
    ["the search box", "/guides/deploy", "<tifo-theme-switch", "tifo-search form"],
    ["the home page's title", "/", "</h1>", "#_top"],
    ["the home page's picture", "/", 'class="actions', ".hero svg"],
  ])("leaves %s where it is", async (_, path, markup, selector) => {
    const { page, arrive } = await openUpTo(path, markup);
    const { x, y } = await boxOf(page, selector);
    await arrive();
    expect(await boxOf(page, selector)).toMatchObject({ x, y });
    await page.close();
  });

  test("shows no table whose columns may still move", async () => {
    const { page, arrive } = await openUpTo("/sdk/tvos/tifo-event-interface/state", '<code dir="auto">panels</code>');
    const table = page.locator("main table");
    await table.locator("tbody tr").first().waitFor({ state: "attached" });
    expect(await table.isVisible()).toBe(false);
    await arrive();
    expect(await table.isVisible()).toBe(true);
    await page.close();
  });

  test("shows no list of headings where an operation's samples will be", async () => {
    const { page, arrive } = await openUpTo("/docs/api-reference/updateSite", '<div class="operation"');
    await page.locator("#_top").waitFor();
    const list = page.locator(".right-sidebar");
    expect(await list.isVisible()).toBe(false);
    await arrive();
    expect(await list.isVisible()).toBe(false);
    await page.locator(".operation-samples").waitFor();
    await page.close();
  });
});
