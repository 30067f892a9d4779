import { z } from "@hono/zod-openapi";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { type BroadcastFields, Deployment, openHostPage, serveHostPage, type StartOptions } from "./sdk-page.ts";
import { reactApp } from "./sdk-react-app.ts";
import { createTestChannel, type SdkTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

const HTML = "<p style='padding:12px 20px;border-radius:12px;background:#000c;color:#fff'>Goal for Harbour City</p>";
const GOAL = { kind: "html", html: HTML, position: "bottomLeft" };
const REPORT = "https://demo.example/report";
const CTA = { type: "open_link", data: { url: "https://demo.example/replay", label: "See the replay" } };

const Media = z.object({ _id: z.string() });

const deployment = new Deployment(url);

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let target: SdkTestChannel;
let token: string;

beforeAll(async () => {
  [browser, host, target, token] = await Promise.all([
    launchBrowser(),
    serveHostPage(deployment.url),
    createTestChannel(deployment),
    deployment.signIn(),
  ]);
});

afterEach(async () => {
  await deployment.clear(target.channelId);
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

function open(options: StartOptions = {}, ...rest: [viewport?: { width: number; height: number }, motion?: "reduce"]) {
  return openHostPage(browser, host.url, { channelId: target.channelId, ...options }, ...rest);
}

function broadcast(fields: BroadcastFields = {}, contents: object[] = [GOAL]): Promise<void> {
  return deployment.broadcast(contents, fields, target.channelId);
}

async function isLive(page: Page): Promise<void> {
  await page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
}

/** Ids of the impressions that the host app has received. */
function shownOf(page: Page, kind: string): Promise<string[]> {
  return page.evaluate((wanted) => window.recorded.impressions.flatMap((one) => (one.kind === wanted ? one.id : [])), kind);
}

describe("a plain page of another origin", () => {
  test("shows a broadcast in its own frame, with its call to action, until the viewer hides it", async () => {
    const { page, problems } = await open();
    await isLive(page);
    await broadcast({ cta: CTA });
    await page.frameLocator(".tifo-overlay-frame").getByText("Goal for Harbour City").waitFor();
    await page.getByRole("status").getByText("Goal for Harbour City").waitFor({ state: "attached" });
    expect(await page.evaluate(() => window.recorded.impressions.filter(({ kind }) => kind === "overlay").length)).toBe(1);
    await page.context().route(CTA.data.url, (route) => route.fulfill({ contentType: "text/html", body: "<h1>Replay</h1>" }));
    const opened = page.waitForEvent("popup");
    await page.getByRole("button", { name: "See the replay" }).click();
    const replay = await opened;
    await replay.getByRole("heading", { name: "Replay" }).waitFor();
    expect(await replay.evaluate(() => window.opener === null && document.referrer === "")).toBe(true);
    await page.getByRole("button", { name: "Hide overlay" }).click();
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("shows each of many overlays, and creates one frame per position", async () => {
    const { page, problems } = await open();
    await isLive(page);
    await page.evaluate(() => {
      window.frameCount = 0;
      const isFrame = (node: Node) => node instanceof Element && (node.matches("iframe") || node.querySelector("iframe") !== null);
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes) window.frameCount += [...addedNodes].filter(isFrame).length;
      }).observe(document.body, { childList: true, subtree: true });
    });
    const frame = page.frameLocator(".tifo-overlay .tifo-overlay-frame");
    for (const [priority, words] of ["First", "Second", "Third"].entries()) {
      await broadcast({ priority }, [{ ...GOAL, html: `<p>${words}</p>` }]);
      await frame.getByText(words, { exact: true }).waitFor();
      await page.getByRole("status").getByText(words).waitFor({ state: "attached" });
    }
    await page.getByRole("button", { name: "Hide overlay" }).click();
    await frame.getByText("Second", { exact: true }).waitFor();
    await deployment.clear(target.channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    expect(await page.frameLocator(".tifo-overlay-frame").locator("#overlay").textContent()).toBe("");
    await broadcast({}, [{ ...GOAL, html: "<p>Fourth</p>" }]);
    await frame.getByText("Fourth", { exact: true }).waitFor();
    expect(await page.locator(".tifo-overlay-frame").evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThan(0);
    await expect.poll(() => shownOf(page, "overlay")).toHaveLength(4);
    expect(await page.evaluate(() => window.frameCount)).toBe(1);
    expect(problems).toEqual([]);
  });

  test("removes an overlay when it is cleared, and doesn't show it to later viewers", async () => {
    const { page } = await open();
    await broadcast();
    await page.locator(".tifo-overlay").waitFor();
    await deployment.clear(target.channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    const later = await open();
    await isLive(later.page);
    expect(await later.page.locator(".tifo-overlay").count()).toBe(0);
  });

  test("asks an anonymous viewer to sign in, counts a signed-in viewer's vote, and shows the tally to both", async () => {
    const [anonymous, viewer] = [await open(), await open({ token })];
    await anonymous.page.getByRole("button", { name: "Harbour City" }).click();
    await anonymous.page.getByRole("alert").getByText("Sign in to take part").waitFor();
    expect(await anonymous.page.evaluate(() => window.recorded.panelEvents)).toMatchObject([{ type: "loginRequested" }]);

    await isLive(viewer.page);
    await viewer.page.getByRole("button", { name: "Harbour City" }).click();
    await viewer.page.getByText("Your answer").waitFor();
    for (const { page } of [anonymous, viewer]) await page.getByText("1 answer", { exact: true }).waitFor();
    const answer = viewer.page.locator('.tifo-answer[aria-pressed="true"]', { hasText: "100%" });
    await answer.waitFor();
    // A contrast theme leaves no fill that shows which answer it is.
    await viewer.page.emulateMedia({ forcedColors: "active" });
    expect(await answer.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe("solid");
    const others = viewer.page.locator('.tifo-answer[aria-pressed="false"]');
    expect(await others.first().evaluate((element) => getComputedStyle(element).outlineStyle)).toBe("none");
    expect(await viewer.page.evaluate(() => window.recorded.actions)).toContain("poll.answer");
    expect(await shownOf(viewer.page, "poll")).toEqual([target.pollId]);
    // On another device, or after a reload.
    const again = await open({ token });
    await again.page.locator('.tifo-answer[aria-pressed="true"]', { hasText: "Harbour City" }).waitFor();
    expect([...anonymous.problems, ...viewer.problems, ...again.problems]).toEqual([]);
  });

  test("reads its configuration, its polls and its quests in one request each", async () => {
    const { page } = await open({ token });
    await page.getByRole("tab", { name: "Quests" }).click();
    await page.getByText("Read the match report.").waitFor();
    const paths = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
    const read = new Set(paths.filter((path) => /^\/(page|poll|quest|claimstatus)\//.test(path)));
    expect([...read].sort()).toEqual([`/page/v2/configuration/${target.channelId}`, "/poll/v3/states", "/quest/v2/states"]);
  });

  test("updates a quest's progress, and claims the reward", async () => {
    const { page, problems } = await open({ token });
    await page.getByRole("tab", { name: "Quests" }).click();
    await page.getByText("0 of 1").waitFor();
    await page.context().route(REPORT, (route) => route.fulfill({ contentType: "text/html", body: "<h1>Report</h1>" }));
    const opened = page.waitForEvent("popup");
    await page.getByRole("button", { name: "Open the report now" }).click();
    await (await opened).getByRole("heading", { name: "Report" }).waitFor();
    await page.getByRole("button", { name: "Claim reward" }).click();
    await page.getByText("Claimed.").waitFor();
    expect(await page.evaluate(() => window.recorded.actions)).toEqual(expect.arrayContaining(["quest.action", "quest.claim"]));
    expect(await shownOf(page, "quest")).toEqual([target.questId]);
    expect(problems).toEqual([]);
  });

  test("uses the page's theme in its own mode, and stays readable in the other", async () => {
    const surface = async (mode: "light" | "dark") => {
      const { page } = await open({ mode });
      return page.locator(".tifo-panel").evaluate((element) => getComputedStyle(element).backgroundColor);
    };
    expect(await surface("dark")).toBe("rgb(11, 11, 18)");
    expect(await surface("light")).toBe("rgb(255, 255, 255)");
  });

  test("shows no animations with reduced motion", async () => {
    const animation = async (motion?: "reduce") => {
      const { page } = await open({}, undefined, motion);
      return page.locator(".tifo-overlay").evaluate((element) => getComputedStyle(element).animationName);
    };
    await broadcast();
    // The demo site's own transition.
    expect(await animation()).toBe("tifo-slide-in");
    expect(await animation("reduce")).toBe("none");
  });

  test.each([375, 1280])("fits a page %i pixels wide", async (width) => {
    const { page } = await open({ token }, { width, height: 800 });
    await broadcast({ cta: CTA });
    await page.getByRole("button", { name: "See the replay" }).waitFor();
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await page.locator(".tifo-panel-content").evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
    }
    const button = await page.getByRole("button", { name: "Hide overlay" }).boundingBox();
    const player = await page.locator("#player").boundingBox();
    expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual((player?.y ?? 0) + (player?.height ?? 0));
  });

  test("loads the Rive runtime only from the deployment, and reports an invalid file", async () => {
    const { page } = await open();
    const thrown: string[] = [];
    page.on("pageerror", (error) => thrown.push(error.message));
    const foreign: string[] = [];
    const own = [new URL(deployment.url).host, new URL(host.url).host];
    page.on("request", (request) => !own.includes(new URL(request.url()).host) && foreign.push(request.url()));
    const wasm = page.waitForResponse((response) => response.url().endsWith("/rive.wasm") && response.ok());
    const warned = page.waitForEvent("console", (message) => message.text().includes("the animation could not be shown"));
    const form = new FormData();
    form.set("file", new File(["RIVE\x07\0 and nothing more"], "goal.riv"));
    const headers = { "Tifo-Client-Id": "5eed00000000000000000001", "Tifo-Developer-Key": "tifo_dev_demo" };
    const response = await fetch(`${deployment.url}/media/v1/`, { method: "POST", headers, body: form });
    const { _id } = Media.parse(await response.json());
    await broadcast({}, [{ kind: "rive", mediaId: _id, fileName: "goal.riv", position: "center" }]);
    await Promise.all([wasm, warned]);
    await broadcast();
    await page.frameLocator(".tifo-overlay-frame").getByText("Goal for Harbour City").waitFor();
    expect([...foreign, ...thrown]).toEqual([]);
  });
});

describe("a React app", () => {
  test("renders and unmounts in its effects, even in strict mode, without React warnings", async () => {
    const { page, problems } = await open();
    await page.addScriptTag({ content: await reactApp(deployment.url, target.channelId) });
    await page.locator("#app .tifo-tabs").nth(1).waitFor();
    expect(await page.locator("#app .tifo-panel").count()).toBe(2);
    await page.evaluate(() => window.show(false));
    await page.locator("#app:empty").waitFor({ state: "attached" });
    expect(problems).toEqual([]);
  });
});

describe("accessibility", () => {
  test.each(["light", "dark"] as const)("axe finds no violations in panels and overlays in %s mode", async (mode) => {
    const { page } = await open({ token, mode });
    await broadcast({ cta: CTA });
    await page.getByRole("button", { name: "See the replay" }).waitFor();
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      await page.locator(".tifo-loading").waitFor({ state: "detached" });
      await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
      expect(await axeViolations(page, { within: ".tifo" })).toEqual([]);
    }
  });

  test("arrow keys alone reach every element, and leave over every edge", async () => {
    const { page } = await open({ token });
    await broadcast({ cta: CTA });
    await page.getByRole("button", { name: "See the replay" }).waitFor();
    for (const name of ["Predict", "Quests", "Cameras"]) {
      await page.getByRole("tab", { name }).click();
      await page.locator(".tifo-loading").waitFor({ state: "detached" });
      const { all, reached, exits } = await page.evaluate(walk, "#panel");
      expect(reached).toEqual(all);
      expect(exits).toEqual(["down", "left", "right", "up"]);
    }
    const { all, reached } = await page.evaluate(walk, "#overlay");
    expect(all).toEqual(["Hide overlay", "See the replay"]);
    expect(reached).toEqual(all);
  });

  test("a remote control can enter, vote and leave", async () => {
    const { page } = await open({ token });
    await page.getByText("Who scores next?").waitFor();
    await page.evaluate(() => window.panel.focus({ from: "up", onExit: (direction) => window.recorded.exits.push(direction) }));
    expect(await page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("tab");
    await page.keyboard.press("ArrowDown");
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("tifo-answer");
    for (let press = 0; press < 8; press++) await page.keyboard.press("ArrowUp");
    expect(await page.evaluate(() => window.recorded.exits)).toEqual(["up"]);
  });

  test("an arrow key that moves focus in by itself is reported to the host app, and can move it back", async () => {
    const { page } = await open({ token });
    await page.getByText("Who scores next?").waitFor();
    await page.evaluate(() => {
      const menu = document.createElement("button");
      menu.id = "menu";
      document.querySelector("main")?.append(menu);
      const tab = document.querySelector<HTMLElement>(".tifo-tabs [aria-selected=true]");
      menu.addEventListener("keydown", ({ key }) => key === "ArrowRight" && tab?.focus());
      menu.focus();
    });
    const focused = () =>
      page.evaluate(() => (document.activeElement?.id === "menu" ? "menu" : document.activeElement?.getAttribute("role")));
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe("tab");
    expect(await page.evaluate(() => window.recorded.entries)).toEqual(["left"]);
    await page.keyboard.press("ArrowUp");
    expect(await focused()).toBe("menu");
    await page.evaluate(() => window.panel.focus({ from: "left", onExit: () => {} }));
    expect(await page.evaluate(() => window.recorded.entries)).toEqual(["left"]);
  });

  test("focus returns to the page when the overlay that has it ends", async () => {
    const { page } = await open();
    await broadcast({ cta: CTA });
    await page.getByRole("button", { name: "See the replay" }).waitFor();
    await page.evaluate(() => window.overlay.focus({ from: "left", onExit: (direction) => window.recorded.exits.push(direction) }));
    await deployment.clear(target.channelId);
    await page.waitForFunction(() => window.recorded.exits.length > 0);
    expect(await page.evaluate(() => window.recorded.exits)).toEqual(["left"]);
  });
});

/** In the page: all focusable elements, and those that a remote control can reach from the entry. */
function walk(selector: string): { all: string[]; reached: string[]; exits: string[] } {
  const root = document.querySelector(selector);
  const rendered = selector === "#panel" ? window.panel : window.overlay;
  const exits = new Set<string>();
  const nameOf = (element: Element) => element.getAttribute("aria-label") ?? element.textContent;
  const enter = () => rendered.focus({ from: "left", onExit: (direction) => exits.add(direction) });
  const focusable = [...(root?.querySelectorAll("button, a[href], [tabindex='0']") ?? [])];
  const all = focusable.filter((element) => !focusable.some((other) => other !== element && element.contains(other)));
  const reached = new Set<Element>();
  enter();
  const queue = [document.activeElement];
  for (let here = queue.pop(); here; here = queue.pop()) {
    if (!(here instanceof HTMLElement) || reached.has(here)) continue;
    reached.add(here);
    for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]) {
      enter();
      here.focus();
      const before = exits.size;
      here.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      if (exits.size === before) queue.push(document.activeElement);
    }
  }
  return { all: all.map(nameOf).sort(), reached: [...reached].map(nameOf).sort(), exits: [...exits].sort() };
}
