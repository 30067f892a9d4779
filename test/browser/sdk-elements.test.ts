import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ElementEvents } from "#sdk/elements/channels.ts";
import type { TifoElements } from "#sdk/script/tifo-elements.ts";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { CHANNEL, Deployment, SITE } from "./sdk-page.ts";
import { type PlainPage, servePlainPage } from "./sdk-plain-page.ts";
import { createTestChannel, type SdkTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

const deployment = new Deployment(url);

declare global {
  interface Window {
    TifoElements: typeof TifoElements;
    /** Names and details of the elements' events, as the document receives them. */
    heard: [string, string, unknown][];
  }
}

let browser: Browser;
let host: PlainPage;
let target: SdkTestChannel;
let token: string;

beforeAll(async () => {
  [browser, host, target, token] = await Promise.all([
    launchBrowser(),
    servePlainPage(),
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

const address = (channel = target.channelId) => `site="${SITE}" channel="${channel}"`;
const OVERLAYS = () => `<div style="position:relative;width:640px;height:360px"><tifo-overlays ${address()}></tifo-overlays></div>`;

interface Opened {
  page: Page;
  problems: string[];
  /** Addresses of the channel's connections, and how many of them are open. */
  sockets: { urls: string[]; open: number };
}

/** Opens a page of another origin with nothing but the script and this markup. */
async function open(body: string, { head = "", width = 900, script = "" } = {}): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  const problems: string[] = [];
  const sockets: Opened["sockets"] = { urls: [], open: 0 };
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("websocket", (socket) => {
    sockets.urls.push(socket.url());
    sockets.open++;
    socket.on("close", () => sockets.open--);
  });
  const html = `<!doctype html><html lang="en"><title>Match day</title><link rel="icon" href="data:,">${head}
    <script ${script} src="${deployment.url}/sdk/tifo-elements.js"></script><main><h1>Match day</h1>${body}</main></html>`;
  host.show(html);
  await page.goto(host.url);
  return { page, problems, sockets };
}

function isLive(page: Page, name: "tifo-overlays" | "tifo-panel" | "tifo-poll"): Promise<unknown> {
  return page.waitForFunction((wanted) => document.querySelector(wanted)?.event?.getSnapshot().connection === "live", name);
}

function hear(page: Page, names: (keyof ElementEvents)[]): Promise<void> {
  return page.evaluate((wanted) => {
    window.heard = [];
    for (const name of wanted)
      document.addEventListener(name, (event) => {
        const target = event.target instanceof Element ? event.target.localName : "";
        window.heard.push([name, target, event instanceof CustomEvent ? event.detail : null]);
      });
  }, names);
}

describe("the elements of a plain page", () => {
  test("show overlays, panels, one poll and the chat over one connection", async () => {
    const poll = `<tifo-poll ${address()} poll="${target.pollId}"></tifo-poll>`;
    const { page, problems, sockets } = await open(
      `${OVERLAYS()}<tifo-panel ${address()}></tifo-panel>${poll}<tifo-chat ${address()}></tifo-chat>`,
    );
    await isLive(page, "tifo-overlays");
    await deployment.broadcast([{ kind: "html", html: "<b>Goal</b>", position: "topLeft" }], {}, target.channelId);
    await page.frameLocator(".tifo-overlay-frame").getByText("Goal").waitFor();
    const news = { kind: "kit", template: "breaking-news", variables: { headline: "Final moved" } };
    await deployment.broadcast([news], {}, target.channelId);
    const kit = page.locator("tifo-overlays .tk").filter({ hasText: "Final moved" });
    await kit.waitFor();
    expect(await kit.evaluate((element) => getComputedStyle(element).fontFamily)).toContain("Tifo Kit");
    await page.locator("tifo-panel").getByRole("tab", { name: "Predict" }).waitFor();
    await page.locator("tifo-poll").getByRole("heading", { name: "Who scores next?" }).waitFor();
    await page.locator("tifo-chat").getByRole("heading", { name: "Chat" }).or(page.locator("tifo-chat .tifo-chat")).first().waitFor();
    expect(sockets.urls).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  test("show one panel by its id, and a poll that no panel of the channel contains", async () => {
    const { page } = await open(
      `<tifo-panel ${address(CHANNEL)} panel="5eed0000000000000000d004"></tifo-panel>
       <tifo-poll ${address(CHANNEL)} poll="${target.pollId}"></tifo-poll>`,
    );
    await page.locator("tifo-poll").getByRole("heading", { name: "Who scores next?" }).waitFor();
    await page.locator("tifo-panel .tifo-panel-content").waitFor();
    expect(await page.locator("tifo-panel").getByRole("tab").count()).toBe(0);
  });

  test("find their deployment although the page loads the script as a module", async () => {
    const { page, problems } = await open(`<tifo-panel ${address()}></tifo-panel>`, { script: 'type="module"' });
    await page.locator("tifo-panel").getByRole("tab", { name: "Predict" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("follow changes of their attributes", async () => {
    const { page, sockets, problems } = await open(`<tifo-panel ${address()} mode="light"></tifo-panel>`);
    const panel = page.locator("tifo-panel");
    const section = panel.locator(".tifo-panel");
    await panel.getByRole("tab", { name: "Predict" }).waitFor();
    expect(await section.getAttribute("data-mode")).toBe("light");
    const set = (name: string, value: string) =>
      panel.evaluate((element, [key, text]) => element.setAttribute(key, text), [name, value] as const);
    await set("mode", "dark");
    await expect.poll(() => section.getAttribute("data-mode")).toBe("dark");
    expect(sockets.urls).toHaveLength(1);
    await set("language", "de");
    await expect.poll(() => section.getAttribute("lang")).toBe("de");
    await set("channel", CHANNEL);
    await panel.getByRole("tab", { name: "Ask the bench" }).waitFor();
    await expect.poll(() => sockets.open).toBe(1);
    await panel.evaluate((element) => element.removeAttribute("site"));
    await section.waitFor({ state: "detached" });
    await expect.poll(() => sockets.open).toBe(0);
    expect(problems).toEqual([]);
  });

  test("show nothing, and say why, with an invalid site", async () => {
    const { page, problems } = await open("");
    const warned = page.waitForEvent("console", (message) => message.text().includes("<tifo-panel> shows nothing"));
    await page.evaluate(() => document.body.insertAdjacentHTML("beforeend", '<tifo-panel site="mine" channel="a"></tifo-panel>'));
    await warned;
    expect(await page.locator("tifo-panel .tifo-panel").count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

describe("removing elements", () => {
  test("leaves the channel with the last one, and joins it again with the first", async () => {
    const { page, sockets } = await open(`${OVERLAYS()}<tifo-panel ${address()}></tifo-panel>`);
    await isLive(page, "tifo-panel");
    await page.evaluate(() => document.querySelector("tifo-overlays")?.remove());
    await page.evaluate(() => {
      // A move isn't a removal.
      const panel = document.querySelector("tifo-panel");
      if (panel) document.body.append(panel);
    });
    await isLive(page, "tifo-panel");
    expect(sockets).toMatchObject({ open: 1, urls: [expect.any(String)] });
    const markup = await page.evaluate(() => {
      const panel = document.querySelector("tifo-panel");
      panel?.remove();
      return panel?.outerHTML ?? "";
    });
    await expect.poll(() => sockets.open).toBe(0);
    await page.evaluate((html) => document.body.insertAdjacentHTML("beforeend", html), markup);
    await isLive(page, "tifo-panel");
    await page.locator("tifo-panel").getByRole("tab", { name: "Predict" }).waitFor();
    expect(sockets).toMatchObject({ open: 1, urls: [expect.any(String), expect.any(String)] });
  });

  test("leaves no nodes and listeners behind", async () => {
    const { page } = await open('<div id="place"></div>');
    const html = `${OVERLAYS()}<tifo-panel ${address()}></tifo-panel><tifo-poll ${address()} poll="${target.pollId}"></tifo-poll>`;
    const cdp = await page.context().newCDPSession(page);
    const cycle = async () => {
      await page.evaluate((markup) => {
        const place = document.querySelector("#place");
        if (place) place.innerHTML = markup;
      }, html);
      await isLive(page, "tifo-poll");
      await page.locator("tifo-poll").getByRole("heading", { name: "Who scores next?" }).waitFor();
      await page.locator("tifo-panel").getByRole("tab", { name: "Predict" }).waitFor();
      await page.evaluate(() => document.querySelector("#place")?.replaceChildren());
    };
    for (let round = 0; round < 3; round++) await cycle();
    const before = await retained(cdp);
    for (let round = 0; round < 12; round++) await cycle();
    // What the first rounds left is what caches keep; leaks would add up.
    await expect
      .poll(async () => {
        const after = await retained(cdp);
        return after.nodes - before.nodes < 200 && after.listeners - before.listeners < 60;
      })
      .toBe(true);
  });
});

/** What is left after a garbage collection. */
async function retained(cdp: CDPSession): Promise<{ nodes: number; listeners: number }> {
  await cdp.send("HeapProfiler.collectGarbage");
  const { nodes, jsEventListeners } = await cdp.send("Memory.getDOMCounters");
  return { nodes, listeners: jsEventListeners };
}

describe("events", () => {
  test("are dispatched once, by the element in which they happened", async () => {
    const { page } = await open(
      `<tifo-panel ${address()}></tifo-panel><tifo-poll ${address()} poll="${target.pollId}"></tifo-poll>${OVERLAYS()}`,
    );
    await hear(page, ["tifo-login-requested", "tifo-answered", "tifo-panel-opened", "tifo-impression"]);
    const heard = (name: keyof ElementEvents) =>
      page.evaluate((wanted) => window.heard.filter(([each]) => each === wanted).map(([, ...rest]) => rest), name);
    await isLive(page, "tifo-poll");
    await page.locator("tifo-poll").getByRole("button", { name: "Old Dock" }).click();
    await expect.poll(() => heard("tifo-login-requested")).toMatchObject([["tifo-poll", { type: "loginRequested" }]]);
    await page.evaluate(([site, jwt]) => window.TifoElements.setToken(site, () => jwt), [SITE, token] as const);
    await isLive(page, "tifo-poll");
    await page.locator("tifo-poll").getByRole("button", { name: "Old Dock" }).click();
    await expect.poll(() => heard("tifo-answered")).toMatchObject([["tifo-poll", { pollId: target.pollId }]]);
    // The panel shows the same poll, and so the same answer.
    await page.locator("tifo-panel").getByText("Your answer").waitFor();
    await page.locator("tifo-panel").getByRole("tab", { name: "Quests" }).click();
    await expect.poll(() => heard("tifo-panel-opened")).toMatchObject([["tifo-panel", { kind: "quests" }]]);
    // What is out of sight isn't shown: Chromium doesn't render it.
    await page.locator("tifo-overlays").evaluate((overlays) => overlays.scrollIntoView());
    await deployment.broadcast([{ kind: "html", html: "<b>Goal</b>", position: "topLeft" }], {}, target.channelId);
    await expect.poll(async () => (await heard("tifo-impression")).filter(([name]) => name === "tifo-overlays")).toHaveLength(1);
  });

  test("report the connection at each element", async () => {
    const head = `<script>
      window.heard = [];
      document.addEventListener("tifo-connection", ({ target, detail }) => heard.push(["", target.localName, detail.state]), true);
    </script>`;
    const { page } = await open(`<tifo-panel ${address()}></tifo-panel><tifo-chat ${address()}></tifo-chat>`, { head });
    await expect
      .poll(() => page.evaluate(() => window.heard.filter(([, , state]) => state === "live").map(([, name]) => name)))
      .toEqual(["tifo-panel", "tifo-chat"]);
  });
});

describe("styles", () => {
  test("neither reach the page nor come from it", async () => {
    const hostile = `<style>
      * { color: rgb(1, 2, 3) !important; }
      button, h3, section, .tifo-panel-content { display: none !important; }
      body { font: italic 40px/3 serif; text-transform: uppercase; letter-spacing: 9px; text-align: right; }
      @property --tifo-accent { syntax: "<color>"; inherits: true; initial-value: red; }
    </style>`;
    const { page } = await open(
      `<p class="tifo tifo-panel" id="own">Mine</p><tifo-poll ${address()} poll="${target.pollId}" mode="light"></tifo-poll>`,
      { head: hostile },
    );
    const heading = page.locator("tifo-poll h3");
    await heading.waitFor();
    const look = (element: Element) => {
      const { color, fontStyle, textTransform, letterSpacing, textAlign, display } = getComputedStyle(element);
      return { color, fontStyle, textTransform, letterSpacing, textAlign, display };
    };
    expect(await heading.evaluate(look)).toEqual({
      color: "rgb(29, 26, 43)",
      fontStyle: "normal",
      textTransform: "none",
      letterSpacing: "normal",
      textAlign: "start",
      display: "block",
    });
    expect(await page.locator("#own").evaluate((element) => getComputedStyle(element).display)).toBe("block");
    expect(await page.locator("#own").evaluate((element) => getComputedStyle(element).backgroundColor)).toBe("rgba(0, 0, 0, 0)");
    await page.evaluate(() => document.querySelector("tifo-poll")?.setAttribute("hidden", ""));
    expect(await heading.isVisible()).toBe(false);
  });

  test.each(["light", "dark"])("leave no accessibility violation in %s mode, from a phone's width", async (mode) => {
    const look = `${address()} mode="${mode}"`;
    const { page } = await open(
      `<tifo-panel ${look} panel="5eed0000000000000000d004"></tifo-panel><tifo-poll ${look} poll="${target.pollId}"></tifo-poll><tifo-chat ${look}></tifo-chat>`,
      { width: 320, head: '<meta name="viewport" content="width=device-width">' },
    );
    await page.locator("tifo-poll").getByRole("heading", { name: "Who scores next?" }).waitFor();
    await page.locator("tifo-panel .tifo-panel-title").waitFor();
    await page.locator("tifo-chat .tifo-chat").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });

  test("keep the focus within the chat's sheets", async () => {
    const { page } = await open(`<tifo-chat ${address()}></tifo-chat>`);
    await page.evaluate(([site, jwt]) => window.TifoElements.setToken(site, jwt), [SITE, token] as const);
    const chat = page.locator("tifo-chat");
    await chat.getByRole("button", { name: /emoji/i }).click();
    const first = chat.locator(".tifo-chat-grid button").first();
    await first.focus();
    await page.keyboard.press("ArrowRight");
    expect(
      await chat
        .locator(".tifo-chat-grid button")
        .nth(1)
        .evaluate((button) => button.matches(":focus")),
    ).toBe(true);
  });
});
