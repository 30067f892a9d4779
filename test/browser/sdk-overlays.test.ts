import { createServer } from "node:http";
import { once } from "node:events";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { type BroadcastFields, Deployment, openHostPage, serveHostPage, SITE } from "./sdk-page.ts";
import { showRapidOverlays } from "./sdk-soak.ts";
import { createTestChannel, type SdkTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

const CTA = { type: "open_link", data: { url: "https://demo.example/replay", label: "See the replay" } };

const deployment = new Deployment(url);

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let target: SdkTestChannel;

beforeAll(async () => {
  [browser, host, target] = await Promise.all([launchBrowser(), serveHostPage(deployment.url), createTestChannel(deployment)]);
});

afterEach(async () => {
  await deployment.clear(target.channelId);
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** Opens a page and waits until it is connected. */
async function open(motion?: "reduce"): Promise<Page> {
  const { page } = await openHostPage(browser, host.url, { channelId: target.channelId }, undefined, motion);
  await page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  return page;
}

function broadcast(html: string, fields: BroadcastFields = {}): Promise<void> {
  return deployment.broadcast([{ kind: "html", html, position: "bottomLeft" }], fields, target.channelId);
}

async function shows(page: Page, text: string): Promise<void> {
  await page.frameLocator(".tifo-overlay .tifo-overlay-frame").getByText(text, { exact: true }).waitFor();
}

/** A site to which no overlay may navigate; it records requests, and whether its page receives messages. */
async function foreignSite() {
  const requests: string[] = [];
  const page = `<script>addEventListener("message", () => fetch("/message", { mode: "no-cors" }))</script>`;
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.setHeader("Content-Type", "text/html").end(page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The foreign site isn't listening on a port");
  return { url: `http://127.0.0.1:${address.port}/`, requests, close: () => void server.close() };
}

describe("the frame of html overlays", () => {
  test("can't be navigated to another site by its content", async () => {
    const foreign = await foreignSite();
    const page = await open();
    await broadcast(`<meta http-equiv="refresh" content="0; url=${foreign.url}"><p>Refreshing</p>`);
    await shows(page, "Refreshing");
    await broadcast("<p>The next</p>");
    await shows(page, "The next");
    expect(foreign.requests).toEqual([]);
    expect(await page.frameLocator(".tifo-overlay-frame").locator("meta[http-equiv]").count()).toBe(0);
    foreign.close();
  });

  test("is replaced if it was navigated to another site, which receives no message", async () => {
    const foreign = await foreignSite();
    const page = await open();
    await broadcast("<p>Before</p>");
    await shows(page, "Before");
    await page.evaluate((url) => {
      const frame = document.querySelector<HTMLIFrameElement>(".tifo-overlay-frame");
      if (frame) frame.src = url;
    }, foreign.url);
    await page.waitForFunction((url) => document.querySelector<HTMLIFrameElement>(".tifo-overlay-frame")?.src !== url, foreign.url);
    await broadcast("<p>After</p>");
    await shows(page, "After");
    expect(foreign.requests).toEqual(["/"]);
    foreign.close();
  });

  test("keeps its content when the host app moves it", async () => {
    const page = await open();
    await broadcast("<p>Goal</p>");
    await shows(page, "Goal");
    await page.evaluate(() => {
      const theatre = document.createElement("div");
      theatre.id = "theatre";
      document.querySelector("#player")?.append(theatre);
    });
    // As when entering and leaving full screen, twice.
    for (const parent of ["#theatre", "#player", "#theatre", "#player"]) {
      await page.evaluate((selector) => {
        const [overlay, target] = [document.querySelector("#overlay"), document.querySelector(selector)];
        if (overlay) target?.append(overlay);
      }, parent);
      await shows(page, "Goal");
    }
  });

  test("reports an impression of html that has no layout size", async () => {
    const page = await open();
    await broadcast("<p style='position:absolute'>Pinned</p>");
    await page.waitForFunction(() => window.recorded.impressions.length > 0);
    await page.getByRole("status").getByText("Pinned").waitFor({ state: "attached" });
  });

  test("announces each overlay's text once, and not again with the next one", async () => {
    const page = await open();
    await broadcast("<p>First</p>");
    await page.getByRole("status").getByText("First").waitFor({ state: "attached" });
    await deployment.clear(target.channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    const observation = await page.evaluateHandle(() => {
      const status = document.querySelector("[role=status]");
      const announced = new Promise<string[]>((resolve) => {
        const seen: string[] = [];
        const changes = new MutationObserver(() => {
          seen.push(status?.textContent ?? "");
          if (seen.at(-1) === "Second") resolve(seen);
        });
        if (status) changes.observe(status, { childList: true, characterData: true, subtree: true });
      });
      return { announced };
    });
    await broadcast("<p>Second</p>");
    expect(await observation.evaluate(({ announced }) => announced)).toEqual(["Second"]);
  });

  test("keeps its height from one overlay to the next", async () => {
    const page = await open();
    await broadcast("<p>First</p>");
    await shows(page, "First");
    await page.waitForFunction(() => (document.querySelector(".tifo-overlay-frame")?.clientHeight ?? 0) > 0);
    const observation = await page.evaluateHandle(() => {
      const heights = new Promise<number[]>((resolve) => {
        const seen: number[] = [];
        const frame = document.querySelector(".tifo-overlay-frame");
        const changes = new ResizeObserver(() => {
          seen.push(frame?.clientHeight ?? 0);
          if (Math.max(...seen) > 300) resolve(seen);
        });
        if (frame) changes.observe(frame);
      });
      return { heights };
    });
    await broadcast("<p>Second</p>");
    await shows(page, "Second");
    await broadcast("<p style='height:320px'>Third</p>");
    const heights = await observation.evaluate((observed) => observed.heights);
    expect(Math.min(...heights)).toBeGreaterThan(0);
  });
});

test("each of twenty overlays a second at one position is shown, and none leaks memory", async () => {
  const { channelId } = target;
  const outcome = await showRapidOverlays({ browser, deployment, hostUrl: host.url, channelId, spells: 3, seconds: 3 });
  const [first, ...later] = outcome.kept;
  expect(outcome).toMatchObject({ unseen: [], problems: [] });
  expect(outcome.sent).toBeGreaterThan(100);
  expect(outcome.overdue).toBeLessThan(outcome.sent / 2);
  // A leak would show after every burst; an overlay that was only collected late doesn't.
  expect(Math.min(...later.map(({ nodes }) => nodes)) - (first?.nodes ?? 0)).toBeLessThan(50);
  expect(Math.min(...later.map(({ heap }) => heap)) - (first?.heap ?? 0)).toBeLessThan(500_000);
});

test("a call to action that fails is logged, and breaks nothing", async () => {
  const page = await open();
  const thrown: string[] = [];
  page.on("pageerror", (error) => thrown.push(error.message));
  const warned = page.waitForEvent("console", (message) => message.text().includes("a call to action failed"));
  const url = "https://vod.demo.example/goal.mp4";
  const videoId = await deployment.create("/video/v3/", {
    siteId: SITE,
    title: "The goal",
    type: "vod",
    player: "file",
    durationSeconds: 12,
    url,
  });
  await broadcast("<p>Goal</p>", { cta: { type: "play_video", data: { videoId, label: "See it" } } });
  await deployment.delete(`/video/v3/${videoId}`);
  await page.getByRole("button", { name: "See it" }).click();
  await warned;
  expect(thrown).toEqual([]);
});

describe("an overlay that ends", () => {
  /** In the page: records the class names of an overlay's container until it is idle, and all animations. */
  function observe() {
    const animations: string[] = [];
    document.addEventListener("animationstart", ({ animationName }) => animations.push(animationName));
    const classes = new Promise<string[]>((resolve) => {
      const container = document.querySelector("[data-broadcast]");
      const seen: string[] = [];
      const changes = new MutationObserver(() => {
        if (container && seen.at(-1) !== container.className) seen.push(container.className);
        if (seen.at(-1) === "tifo-overlay-idle") resolve(seen);
      });
      if (container) changes.observe(container, { attributes: true, attributeFilter: ["class"] });
    });
    return { classes, animations };
  }

  test("leaves with the animation that the site has chosen", async () => {
    const page = await open();
    await broadcast("<p>Goal</p>");
    await shows(page, "Goal");
    const observation = await page.evaluateHandle(observe);
    await deployment.clear(target.channelId);
    expect(await observation.evaluate(({ classes }) => classes)).toEqual(["tifo-overlay tifo-overlay-leaving", "tifo-overlay-idle"]);
    expect(await observation.evaluate(({ animations }) => animations)).toContain("tifo-fade-out");
  });

  test("disappears immediately with reduced motion", async () => {
    const page = await open("reduce");
    await broadcast("<p>Goal</p>");
    await shows(page, "Goal");
    const observation = await page.evaluateHandle(observe);
    await deployment.clear(target.channelId);
    expect(await observation.evaluate(({ classes }) => classes)).toEqual(["tifo-overlay-idle"]);
  });

  test("doesn't change the focus if the viewer has moved it", async () => {
    const page = await open();
    await broadcast("<p>Goal</p>", { cta: CTA });
    await page.getByRole("button", { name: "See the replay" }).waitFor();
    await page.evaluate(() => {
      const search = document.createElement("input");
      search.id = "search";
      document.querySelector("main")?.append(search);
      window.overlay.focus({ from: "left", onExit: (direction) => window.recorded.exits.push(direction) });
      search.focus();
    });
    await deployment.clear(target.channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    expect(await page.evaluate(() => [document.activeElement?.id, window.recorded.exits])).toEqual(["search", []]);
  });
});
