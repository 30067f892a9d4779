import { createServer } from "node:http";
import { once } from "node:events";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { type BroadcastFields, Deployment, openHostPage, serveHostPage, SITE } from "./sdk-page.ts";
import { showFast } from "./sdk-soak.ts";
import { makeWorld, type SdkWorld } from "./sdk-world.ts";

const CTA = { type: "open_link", data: { url: "https://demo.example/replay", label: "See the replay" } };

const deployment = new Deployment(inject("url"));

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let world: SdkWorld;

beforeAll(async () => {
  [browser, host, world] = await Promise.all([launchBrowser(), serveHostPage(deployment.url), makeWorld(deployment)]);
});

afterEach(async () => {
  await deployment.clear(world.channelId);
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** A page that shows the channel live. */
async function open(motion?: "reduce"): Promise<Page> {
  const { page } = await openHostPage(browser, host.url, { channelId: world.channelId }, undefined, motion);
  await page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  return page;
}

function broadcast(html: string, fields: BroadcastFields = {}): Promise<void> {
  return deployment.broadcast([{ kind: "html", html, position: "bottomLeft" }], fields, world.channelId);
}

async function shows(page: Page, words: string): Promise<void> {
  await page.frameLocator(".tifo-overlay .tifo-overlay-frame").getByText(words, { exact: true }).waitFor();
}

/** A site that no overlay is to lead to: what it was asked for, and what its page was told. */
async function foreignSite() {
  const asked: string[] = [];
  const page = `<script>addEventListener("message", () => fetch("/told", { mode: "no-cors" }))</script>`;
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("Content-Type", "text/html").end(page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("It listens on no port");
  return { url: `http://127.0.0.1:${address.port}/`, asked, close: () => void server.close() };
}

describe("the frame of html overlays", () => {
  test("is not led to another site by what it shows", async () => {
    const foreign = await foreignSite();
    const page = await open();
    await broadcast(`<meta http-equiv="refresh" content="0; url=${foreign.url}"><p>Refreshing</p>`);
    await shows(page, "Refreshing");
    await broadcast("<p>The next</p>");
    await shows(page, "The next");
    expect(foreign.asked).toEqual([]);
    expect(await page.frameLocator(".tifo-overlay-frame").locator("meta[http-equiv]").count()).toBe(0);
    foreign.close();
  });

  test("is made anew where it was led to another site, which is told nothing", async () => {
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
    expect(foreign.asked).toEqual(["/"]);
    foreign.close();
  });

  test("shows what it showed where the host app moves it", async () => {
    const page = await open();
    await broadcast("<p>Goal</p>");
    await shows(page, "Goal");
    await page.evaluate(() => {
      const theatre = document.createElement("div");
      theatre.id = "theatre";
      document.querySelector("#player")?.append(theatre);
    });
    // Into full screen, as it were, and back, twice.
    for (const place of ["#theatre", "#player", "#theatre", "#player"]) {
      await page.evaluate((selector) => {
        const [overlay, target] = [document.querySelector("#overlay"), document.querySelector(selector)];
        if (overlay) target?.append(overlay);
      }, place);
      await shows(page, "Goal");
    }
  });

  test("tells of html that takes no room of its own", async () => {
    const page = await open();
    await broadcast("<p style='position:absolute'>Pinned</p>");
    await page.waitForFunction(() => window.told.impressions.length > 0);
    await page.getByRole("status").getByText("Pinned").waitFor({ state: "attached" });
  });

  test("says the words of each overlay once, and not again when the next one comes after a while", async () => {
    const page = await open();
    await broadcast("<p>First</p>");
    await page.getByRole("status").getByText("First").waitFor({ state: "attached" });
    await deployment.clear(world.channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    const noting = await page.evaluateHandle(() => {
      const status = document.querySelector("[role=status]");
      const said = new Promise<string[]>((resolve) => {
        const seen: string[] = [];
        const changes = new MutationObserver(() => {
          seen.push(status?.textContent ?? "");
          if (seen.at(-1) === "Second") resolve(seen);
        });
        if (status) changes.observe(status, { childList: true, characterData: true, subtree: true });
      });
      return { said };
    });
    await broadcast("<p>Second</p>");
    expect(await noting.evaluate(({ said }) => said)).toEqual(["Second"]);
  });

  test("keeps its height from one overlay to the next", async () => {
    const page = await open();
    await broadcast("<p>First</p>");
    await shows(page, "First");
    await page.waitForFunction(() => (document.querySelector(".tifo-overlay-frame")?.clientHeight ?? 0) > 0);
    const noting = await page.evaluateHandle(() => {
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
    const heights = await noting.evaluate((noted) => noted.heights);
    expect(Math.min(...heights)).toBeGreaterThan(0);
  });
});

test("of twenty overlays a second at one position each is shown, and nothing of them is kept", async () => {
  const { channelId } = world;
  const outcome = await showFast({ browser, deployment, hostUrl: host.url, channelId, spells: 3, seconds: 3 });
  const [first, ...later] = outcome.kept;
  expect(outcome).toMatchObject({ unseen: [], problems: [] });
  expect(outcome.sent).toBeGreaterThan(100);
  expect(outcome.overdue).toBeLessThan(outcome.sent / 2);
  // What is kept of each is there after every spell; one that came late to be collected is not.
  expect(Math.min(...later.map(({ nodes }) => nodes)) - (first?.nodes ?? 0)).toBeLessThan(50);
  expect(Math.min(...later.map(({ heap }) => heap)) - (first?.heap ?? 0)).toBeLessThan(500_000);
});

test("a call to action that can't be followed is told to the console, and breaks nothing", async () => {
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
  /** In the page: every class that a place of overlays has from now on, until it rests, and each movement. */
  function note() {
    const moves: string[] = [];
    document.addEventListener("animationstart", ({ animationName }) => moves.push(animationName));
    const classes = new Promise<string[]>((resolve) => {
      const place = document.querySelector("[data-broadcast]");
      const seen: string[] = [];
      const changes = new MutationObserver(() => {
        if (place && seen.at(-1) !== place.className) seen.push(place.className);
        if (seen.at(-1) === "tifo-overlay-idle") resolve(seen);
      });
      if (place) changes.observe(place, { attributes: true, attributeFilter: ["class"] });
    });
    return { classes, moves };
  }

  test("leaves with a movement", async () => {
    const page = await open();
    await broadcast("<p>Goal</p>");
    await shows(page, "Goal");
    const noting = await page.evaluateHandle(note);
    await deployment.clear(world.channelId);
    expect(await noting.evaluate(({ classes }) => classes)).toEqual(["tifo-overlay tifo-overlay-leaving", "tifo-overlay-idle"]);
    expect(await noting.evaluate(({ moves }) => moves)).toContain("tifo-leave");
  });

  test("is gone at once where nothing is to move", async () => {
    const page = await open("reduce");
    await broadcast("<p>Goal</p>");
    await shows(page, "Goal");
    const noting = await page.evaluateHandle(note);
    await deployment.clear(world.channelId);
    expect(await noting.evaluate(({ classes }) => classes)).toEqual(["tifo-overlay-idle"]);
  });

  test("leaves focus where the viewer has taken it", async () => {
    const page = await open();
    await broadcast("<p>Goal</p>", { cta: CTA });
    await page.getByRole("button", { name: "See the replay" }).waitFor();
    await page.evaluate(() => {
      const search = document.createElement("input");
      search.id = "search";
      document.querySelector("main")?.append(search);
      window.overlay.focus({ from: "left", onExit: (direction) => window.told.exits.push(direction) });
      search.focus();
    });
    await deployment.clear(world.channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    expect(await page.evaluate(() => [document.activeElement?.id, window.told.exits])).toEqual(["search", []]);
  });
});
