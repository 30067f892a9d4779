import { z } from "@hono/zod-openapi";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { url } from "./test-server.ts";

const Document = z.object({ i: z.number(), t: z.string(), u: z.string() }).loose();
const Index = z.array(
  z.object({ documents: z.array(Document), index: z.object({ version: z.string(), invertedIndex: z.array(z.unknown()) }) }),
);

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

async function open(path: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url + path);
  return page;
}

function box(page: Page) {
  return page.getByRole("combobox", { name: "Search the documentation" });
}

describe("the search box", () => {
  test("loads nothing before it is used", async () => {
    const page = await browser.newPage();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`${url}/start`, { waitUntil: "networkidle" });
    expect(requests.filter((request) => /pagefind|search-index/.test(request))).toEqual([]);
    const loading = page.waitForRequest(/\/search-index-[0-9a-f]{8}\.json$/);
    await box(page).hover();
    await loading;
    await page.close();
  });

  test("loads its index in one request, however much is typed", async () => {
    const page = await open("/start");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await box(page).pressSequentially("overlay");
    await page.getByRole("option").first().waitFor();
    await box(page).fill("webhok");
    await page.locator('[role=option][href^="/concepts/webhooks"]').waitFor();
    expect(requests.filter((request) => /pagefind|search-index/.test(request))).toHaveLength(1);
    await page.close();
  });

  test("announces the number of results to screen readers", async () => {
    const page = await open("/start");
    await box(page).fill("overlay");
    await page
      .getByRole("status")
      .getByText(/^\d results$/)
      .waitFor();
    await page.close();
  });

  test("opens with Ctrl+K, lists at most 8 pages and operations, and opens them by keyboard", async () => {
    const page = await open("/start");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("overlay");
    const hits = page.locator("[role=option]");
    await hits.first().waitFor();
    expect(await hits.count()).toBeLessThanOrEqual(8);
    for (const title of await page.locator("[role=option] .title").allTextContents()) expect(title.length).toBeLessThanOrEqual(52);
    const address = await hits.first().getAttribute("href");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}${address}`);
    await page.close();
  });

  test("finds an operation by its name", async () => {
    const page = await open("/");
    await box(page).fill("open a magic-link");
    await page.locator('[role=option][href^="/docs/api-reference/"]').first().waitFor();
    await page.close();
  });

  test("reports that there are no results", async () => {
    const page = await open("/");
    await box(page).fill("xyzzyplugh");
    await page.locator(".message").getByText("No results").waitFor();
    expect(await page.getByRole("option").count()).toBe(0);
    await page.close();
  });

  test("finds nothing for stop words alone", async () => {
    const page = await open("/");
    await box(page).fill("how to do the");
    await page.locator(".message").getByText("No results").waitFor();
    await page.close();
  });

  test("closes on a click elsewhere", async () => {
    const page = await open("/");
    await box(page).fill("overlay");
    await page.getByRole("option").first().waitFor();
    await page.getByRole("heading", { level: 1 }).click();
    expect(await box(page).getAttribute("aria-expanded")).toBe("false");
    await page.close();
  });

  test("reports that the index failed to load, and retries", async () => {
    const page = await browser.newPage();
    await page.route("**/pagefind/pagefind.js*", (route) => route.abort());
    await page.goto(`${url}/search?q=overlay`);
    await page.getByRole("alert").waitFor();
    await page.unroute("**/pagefind/pagefind.js*");
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByText(/documents found/).waitFor();
    await page.close();
  });

  test("links to all results, and to those within the section", async () => {
    const page = await open("/sdk/web/core-sdk/configure");
    await box(page).fill("overlay");
    expect(await page.getByRole("link", { name: "See all results", exact: true }).getAttribute("href")).toBe("/search?q=overlay");
    expect(await page.getByRole("link", { name: "within “Web SDK”" }).getAttribute("href")).toBe("/search?q=overlay&ctx=web-sdk");
    await page.close();
  });
});

describe("the page of all results", () => {
  test("reads query and context from its URL and keeps them there", async () => {
    const page = await open("/search?q=overlay&ctx=web-sdk");
    await page.getByText(/documents? found/).waitFor();
    for (const link of await page.locator("article a").all())
      expect(await link.getAttribute("href")).toMatch(/^\/(sdk\/web|overlays)(\/|#|$)/);
    await page.getByRole("searchbox", { name: "Search terms" }).fill("xyzzyplugh");
    await page.getByText("No results").waitFor();
    expect(page.url()).toBe(`${url}/search?q=xyzzyplugh&ctx=web-sdk`);
    await page.close();
  });

  test("shows ten documents at first, and similar pages for a misspelt word", async () => {
    const page = await open("/search?q=overlay");
    await page.getByText(/documents found/).waitFor();
    expect(await page.locator("article.page").count()).toBe(10);
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => page.locator("article.page").count()).toBe(20);
    await page.goto(`${url}/search?q=boradcast`);
    await page.getByText("No document contains these words. Similar:").waitFor();
    expect(await page.locator('article a[href^="/docs/api-reference/broadcastOverlay"]').count()).toBeGreaterThan(0);
    await page.close();
  });

  test("separates an operation's method from its path in an excerpt", async () => {
    const page = await open("/docs/api-reference/createPoll");
    expect(await page.locator(".endpoint").textContent()).toBe("POST /poll/v3");
    await page.close();
  });

  test("ignores an unknown context", async () => {
    const page = await open("/search?q=overlay&ctx=nonsense");
    await page.getByText(/documents found/).waitFor();
    expect(page.url()).toBe(`${url}/search?q=overlay`);
    await page.close();
  });

  test("rejects an index of another origin", async () => {
    const page = await open(`/search?q=overlay&version=${encodeURIComponent("https://evil.example/")}`);
    await page.getByRole("alert").getByText("Unexpected version url").waitFor();
    await page.getByRole("button", { name: "Retry" }).waitFor();
    await page.close();
  });

  test("isn't indexed itself", async () => {
    const page = await open("/search");
    expect(await page.locator("meta[name=robots]").getAttribute("content")).toBe("noindex");
    await page.close();
  });
});

describe("the published index", () => {
  test.each(["search-index.json", "search-index-api.json", "search-index-web-sdk.json"])("%s contains its five lists", async (file) => {
    const lists = Index.parse(await (await fetch(`${url}/${file}`)).json());
    expect(lists).toHaveLength(5);
    const [titles, , descriptions] = lists;
    expect(titles?.documents.length).toBeGreaterThan(0);
    expect(descriptions?.documents.length).toBe(titles?.documents.length);
    const numbers = lists.flatMap(({ documents }) => documents.map(({ i }) => i));
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});
