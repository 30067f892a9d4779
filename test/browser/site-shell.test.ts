import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { collectErrors } from "./site.ts";
import { url } from "./test-server.ts";

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 375, height: 700 };
const SDK_PAGE = "/sdk/web/core-sdk/configure";

let browser: Browser;
let context: BrowserContext;
let errors: string[];

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

beforeEach(async () => {
  context = await browser.newContext({ viewport: DESKTOP });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: url });
});

afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  errors = collectErrors(page, url);
  await page.goto(url + path);
  return page;
}

function theme(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.documentElement.dataset["theme"]);
}

describe("the colour theme", () => {
  test("is light at first, even if the system is dark", async () => {
    const page = await open("/");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload();
    expect(await theme(page)).toBe("light");
  });

  test("is dark after a switch, even on the next page", async () => {
    const page = await open("/");
    await page.getByRole("switch", { name: "Dark mode" }).click();
    await page.goto(url + SDK_PAGE);
    expect(await theme(page)).toBe("dark");
    expect(await page.getByRole("switch", { name: "Dark mode" }).getAttribute("aria-checked")).toBe("true");
  });

  test("follows the system once the choice is cleared", async () => {
    const page = await open("/");
    await page.getByRole("button", { name: "Use the system's colours" }).click();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("[data-theme=dark]").waitFor({ state: "attached" });
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("[data-theme=light]").waitFor({ state: "attached" });
  });
});

describe("the announcement", () => {
  test("stays closed until there is a new one", async () => {
    const page = await open("/");
    const bar = page.getByRole("region", { name: "Announcement" });
    await page.getByRole("button", { name: "Close the announcement" }).click();
    await page.reload();
    expect(await bar.isVisible()).toBe(false);
    await page.evaluate(() => localStorage.setItem("announcement.id", "an older one"));
    await page.reload();
    expect(await bar.isVisible()).toBe(true);
  });
});

describe("on a phone", () => {
  test("the menu opens, links back to the main menu and closes when the window becomes wide", async () => {
    const page = await open(SDK_PAGE);
    await page.setViewportSize(PHONE);
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    const section = page.getByRole("navigation", { name: "This section" });
    await section.waitFor();
    await page.getByRole("button", { name: "Back to main menu" }).click();
    const main = page.getByRole("navigation", { name: "Main menu" });
    expect(await main.getByRole("link").allTextContents()).toHaveLength(9);
    expect(await section.isVisible()).toBe(false);
    await page.setViewportSize(DESKTOP);
    // The page hears of its new width, and of the closed menu, in events.
    await expect.poll(() => page.locator(":popover-open").count()).toBe(0);
    await expect.poll(() => page.locator(".main-frame").getAttribute("inert")).toBeNull();
    expect(await section.isVisible()).toBe(true);
  });

  test("the menu closes when the browser goes back", async () => {
    const page = await open(SDK_PAGE);
    await page.setViewportSize(PHONE);
    await page.evaluate(() => history.pushState({}, "", "#parameters"));
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => document.querySelector(":popover-open") === null);
  });

  test.each([
    [996, true],
    [997, false],
  ])("at %i px the menu has a button: %s", async (width, hasButton) => {
    const page = await open(SDK_PAGE);
    await page.setViewportSize({ width, height: 800 });
    expect(await page.getByRole("button", { name: "Menu", exact: true }).isVisible()).toBe(hasButton);
  });
});

test("all links of the header fit into the narrowest window without a menu", async () => {
  const page = await open(SDK_PAGE);
  await page.setViewportSize({ width: 997, height: 800 });
  const links = await page.locator("tifo-header nav a").all();
  expect(links).toHaveLength(9);
  for (const link of links) expect(await link.isVisible()).toBe(true);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(997);
});

describe("the sidebar", () => {
  test("is 300 px wide", async () => {
    const page = await open(SDK_PAGE);
    expect((await page.locator("tifo-menu").boundingBox())?.width).toBe(300);
  });

  test("keeps a group open until it has slid shut", async () => {
    const page = await open(SDK_PAGE);
    const group = page.locator("tifo-menu details").first();
    await group.locator("summary").click();
    await expect.poll(() => group.getAttribute("open")).toBeNull();
  });
});

describe("the header", () => {
  test("stays visible if hiding on scroll is disabled", async () => {
    const page = await open(SDK_PAGE);
    await page.evaluate(() => scrollTo(0, 900));
    await page.waitForFunction(() => scrollY >= 900);
    expect(await page.locator("tifo-header").getAttribute("data-hidden")).toBeNull();
  });

  test("hides when scrolling down and returns when scrolling up if hiding is enabled", async () => {
    const page = await open(SDK_PAGE);
    await page.locator("tifo-header").evaluate((header) => header.setAttribute("hide-on-scroll", ""));
    await page.evaluate(() => scrollTo(0, 700));
    await page.locator("tifo-header[data-hidden]").waitFor({ state: "attached" });
    await page.evaluate(() => scrollTo(0, 600));
    await page.locator("tifo-header:not([data-hidden])").waitFor({ state: "attached" });
  });

  test("starts with a link that skips to the content", async () => {
    const page = await open(SDK_PAGE);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to main content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
  });
});

describe("a browser that blocks storage", () => {
  test("logs one warning, and everything works until the page closes", async () => {
    await context.addInitScript(() => {
      const blocked = {
        configurable: true,
        get() {
          throw new DOMException("Storage is blocked.", "SecurityError");
        },
      };
      Object.defineProperty(window, "localStorage", blocked);
      Object.defineProperty(window, "sessionStorage", blocked);
    });
    const page = await context.newPage();
    errors = collectErrors(page, url);
    const warnings: string[] = [];
    page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
    await page.goto(url + SDK_PAGE);
    await page.getByRole("switch", { name: "Dark mode" }).click();
    await page.getByRole("button", { name: "Close the announcement" }).click();
    expect(await theme(page)).toBe("dark");
    expect(warnings.filter((text) => text.includes("Storage is unavailable"))).toHaveLength(1);
  });
});

describe("a slow navigation", () => {
  test("shows a progress bar after 200 ms, starting at 8 %", async () => {
    const page = await open(SDK_PAGE);
    // The next page never loads, but its click has been handled.
    await page.evaluate(() => addEventListener("click", (event) => event.preventDefault()));
    // A clock that is only installed would keep running.
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
    await page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link", { name: "Guides" }).click();
    await page.clock.runFor(190);
    expect(await page.locator(".tifo-progress").count()).toBe(0);
    await page.clock.runFor(20);
    expect(await page.locator(".tifo-progress").getAttribute("style")).toContain("scaleX(0.08)");
    await page.clock.runFor(800);
    expect(await page.locator(".tifo-progress").getAttribute("style")).toContain("scaleX(0.17");
  });
});

describe("a page's Markdown", () => {
  test("is copied completely", async () => {
    const page = await open(SDK_PAGE);
    await page.getByRole("button", { name: "Copy page as Markdown" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const twin = await fetch(`${url}${SDK_PAGE}.md`);
    expect(twin.headers.get("content-type")).toContain("text/markdown");
    expect(copied).toBe(await twin.text());
    expect(copied).toMatch(/^# configure\n/);
  });
});

describe("a reader's own key", () => {
  const own = { id: "0123456789abcdef01234567", key: "tifo_dev_mine" };

  test("is filled into the samples of every page and their copy buttons, until it is cleared", async () => {
    const page = await open("/api/key");
    await page.getByLabel("Client id").fill(own.id);
    await page.getByLabel("Developer key").fill(own.key);
    await page.getByRole("button", { name: "Fill the samples" }).click();
    await page.getByText("Filled into every sample").waitFor();
    const sample = page.locator(".expressive-code pre").first();
    expect(await sample.textContent()).toContain(own.key);
    await page.reload();
    expect(await sample.textContent()).toContain(`Tifo-Client-Id: ${own.id}`);
    expect(await page.locator("[data-code]").first().getAttribute("data-code")).toContain(own.key);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("Cleared").waitFor();
    expect(await sample.textContent()).toContain("tifo_dev_demo");
  });
});

describe("a page marked as helpful", () => {
  test("remembers it, and dispatches an event", async () => {
    const page = await open(SDK_PAGE);
    const detail = page.evaluate(
      () =>
        new Promise((resolve) => {
          document.addEventListener("tifo:helpful", (event) => resolve(event instanceof CustomEvent ? event.detail : undefined));
        }),
    );
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    expect(await detail).toEqual({ path: SDK_PAGE, answer: "yes" });
    await page.reload();
    expect(await page.getByRole("button", { name: "Yes", exact: true }).getAttribute("aria-pressed")).toBe("true");
  });
});

describe("the home page", () => {
  test("warns if it was built for another base URL", async () => {
    await context.route("**/*.css", (route) => route.abort());
    const page = await open("/");
    await page.getByRole("alert").getByText("did not load properly").waitFor();
  });

  test("doesn't warn otherwise", async () => {
    const page = await open("/");
    expect(await page.getByText("did not load properly").count()).toBe(0);
  });
});

test("an error that nothing handles is shown with its causes, and trying again clears it", async () => {
  const page = await open(SDK_PAGE);
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error("The list failed.", { cause: new TypeError("No such field.") });
    });
  });
  const crash = page.getByRole("alert");
  await crash.getByRole("heading", { name: "This page crashed." }).waitFor();
  expect(await crash.textContent()).toContain("The list failed.\n\nCause:\nTypeError: No such field.");
  expect(errors.splice(0)).toHaveLength(1);
  await crash.getByRole("button", { name: "Try again" }).click();
  await crash.waitFor({ state: "detached" });
});

test("a script of the shell that doesn't load, or fails as it starts, is shown on a page that can still be read", async () => {
  await context.route("**/_astro/*.js", (route) => route.abort());
  const missing = await open(SDK_PAGE);
  const crash = missing.getByRole("alert");
  await crash.getByRole("heading", { name: "This page crashed." }).waitFor();
  expect(await crash.textContent()).toMatch(/_astro\/\S+\.js could not be loaded\./);
  expect(await missing.getByRole("heading", { level: 1 }).isVisible()).toBe(true);
  await context.unroute("**/_astro/*.js");

  await context.route("**/_astro/page-frame*.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body: 'throw new Error("The shell failed.", { cause: "No storage" });' }),
  );
  const failing = await open(SDK_PAGE);
  await failing.getByText("The shell failed.").waitFor();
  expect(await failing.getByRole("alert").textContent()).toContain("The shell failed.\n\nCause:\nNo storage");
  errors.splice(0);
});

test("every page says when it was last updated, also one without a source file of its own", async () => {
  for (const path of ["/", SDK_PAGE, "/docs/api-reference/createPoll", "/quality", "/errors"]) {
    const page = await open(path);
    expect(await page.locator("footer time").first().getAttribute("datetime"), path).toMatch(/^20\d\d-/);
  }
});

test("an unknown path shows the not-found page, which searches for the path's words and leads to the sections", async () => {
  const page = await open("/guides/video-playrs");
  await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
  const search = page.getByRole("search", { name: "Search for the page" });
  expect(await search.getByRole("searchbox").inputValue()).toBe("video playrs");
  for (const name of ["Get started", "Guides", "REST API"])
    expect(await page.getByRole("main").getByRole("link", { name, exact: true }).count()).toBe(1);
  await search.getByRole("button", { name: "Search" }).click();
  await page.waitForURL(`${url}/search?q=video+playrs`);
});
