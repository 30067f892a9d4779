import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import type { Browser, FrameLocator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "#scripts/lib/root.mjs";
import { FILES, graphicForm, SCRIPT, type ZipEntry } from "#test/graphics.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment, openHostPage, serveHostPage, SITE } from "./sdk-page.ts";
import { createTestChannel, type SdkTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

/** OGraf's own examples, where they are present. They aren't part of the project. */
const EXAMPLES = join(ROOT, "../shared/data/ograf/v1/examples");
const deployment = new Deployment(url);
const Created = z.object({ _id: z.string() });

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

async function upload(files?: Record<string, ZipEntry>): Promise<string> {
  const headers = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };
  const response = await fetch(`${deployment.url}/overlay/v1/graphics`, { method: "POST", headers, body: await graphicForm(files) });
  return Created.parse(await response.json())._id;
}

/** Creates an overlay with a graphic, and returns how to broadcast it. */
async function overlayOf(graphic: string, variables: object = {}) {
  const overlay = { siteId: SITE, name: "Graphic", description: "", type: "template", duration: 3600 };
  const id = await deployment.create("/overlay/v1/", { ...overlay, contents: [{ kind: "ograf", graphic, variables }] });
  return (fields: object = {}) => deployment.post(`/overlay/v1/broadcast/${id}`, { channelId: target.channelId, ...fields });
}

async function open(motion?: "reduce"): Promise<{ page: Page; problems: string[]; frame: FrameLocator }> {
  const opened = await openHostPage(browser, host.url, { channelId: target.channelId }, undefined, motion);
  await opened.page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  return { ...opened, frame: opened.page.frameLocator(".tifo-graphic-frame") };
}

const calls = (frame: FrameLocator) => frame.locator("tifo-graphic").getAttribute("data-calls");
const lastParams = async (frame: FrameLocator): Promise<unknown> =>
  JSON.parse((await frame.locator("tifo-graphic").getAttribute("data-params")) ?? "null");

describe("a graphic", () => {
  test("is loaded and played, updated in place, performs actions in order, and is stopped and disposed of", async () => {
    const broadcast = await overlayOf(await upload(), { role: "Head coach" });
    const { page, problems, frame } = await open();
    await broadcast({ variables: { name: "Mira Castellanos" } });
    await frame.getByText("Mira Castellanos, Head coach").waitFor();
    await page.getByRole("status").getByText("Mira Castellanos, Head coach").waitFor({ state: "attached" });
    expect(await calls(frame)).toBe("load play");
    await broadcast({ variables: { name: "Lea Brandt" } });
    await frame.getByText("Lea Brandt, Head coach").waitFor();
    await expect.poll(() => calls(frame)).toBe("load play update");
    const actions = [{ type: "custom", id: "tint", payload: { color: "red" } }, { type: "play", goto: 1 }, { type: "stop" }];
    await broadcast({ variables: { name: "Lea Brandt" }, actions });
    await expect.poll(() => calls(frame)).toBe("load play update custom:tint play stop");
    expect(await page.locator(".tifo-graphic-frame").count()).toBe(1);
    await deployment.clear(target.channelId);
    await page.locator(".tifo-graphic-frame").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("loses none of the actions that arrive at once", async () => {
    const broadcast = await overlayOf(await upload());
    const { frame } = await open();
    for (let step = 0; step < 6; step++) await broadcast({ actions: [{ type: "custom", id: "blink" }] });
    await expect.poll(async () => (await calls(frame))?.split(" ").filter((call) => call === "custom:blink").length).toBe(6);
    expect((await calls(frame))?.startsWith("load play ")).toBe(true);
  });

  test("covers the player at the width that it is made for, and has a button that hides it", async () => {
    const broadcast = await overlayOf(await upload());
    const { page, frame } = await open();
    await broadcast();
    await frame.locator("tifo-graphic p").waitFor();
    const player = await page.locator("#player").boundingBox();
    const box = await page.locator(".tifo-graphic-frame").boundingBox();
    expect(box?.width).toBeCloseTo(player?.width ?? 0, 0);
    expect(box?.height).toBeCloseTo(player?.height ?? 0, 0);
    expect(await frame.locator("body").evaluate(() => innerWidth)).toBe(1280);
    await page.getByRole("button", { name: "Hide overlay" }).click();
    await page.locator(".tifo-graphic-frame").waitFor({ state: "detached" });
  });

  test("skips animations for viewers who want reduced motion", async () => {
    const broadcast = await overlayOf(await upload());
    const { frame } = await open("reduce");
    await broadcast();
    await expect.poll(() => calls(frame)).toBe("load play");
    expect(await lastParams(frame)).toEqual({ skipAnimation: true });
  });

  test("has no origin, and reaches neither the page nor the deployment nor other hosts", async () => {
    const broadcast = await overlayOf(await upload());
    const { page, frame } = await open();
    await broadcast();
    await frame.locator("tifo-graphic p").waitFor();
    const reach = await frame.locator("body").evaluate(async (_, api) => {
      const attempt = async (work: () => unknown) => {
        try {
          await work();
          return "reached";
        } catch {
          return "blocked";
        }
      };
      return {
        origin: window.origin,
        page: await attempt(() => parent.document.title),
        storage: await attempt(() => localStorage.length),
        api: await attempt(() => fetch(`${api}/site/v1`)),
        other: await attempt(() => fetch("https://example.com/")),
        window: await attempt(() => {
          if (!window.open("https://example.com/")) throw new Error("No window");
        }),
        top: await attempt(() => {
          if (top) top.location.href = "https://example.com/";
        }),
        script: await attempt(() => import(/* @vite-ignore */ `${api}/sdk/tifo.js`)),
      };
    }, deployment.url);
    const { origin, ...others } = reach;
    expect(origin).toBe("null");
    expect(Object.entries(others).filter(([, outcome]) => outcome !== "blocked")).toEqual([]);
    await frame.locator("body").evaluate(() => void (location.href = "https://example.com/"));
    await page.locator(".tifo-graphic-frame").waitFor({ state: "detached" });
  });

  test("that takes the focus is removed, and the viewer goes on typing where they were", async () => {
    const steal = 'document.body.appendChild(document.createElement("input")).focus();';
    const script = SCRIPT.replace('this.#log("play", params);', (log) => `${log} ${steal}`);
    const broadcast = await overlayOf(await upload({ ...FILES, "scripts/lower-third.mjs": script }));
    const { page } = await open();
    await page.evaluate(() => {
      const input = document.createElement("input");
      input.id = "own";
      document.body.append(input);
      input.focus();
    });
    // The frame may be gone before anybody could look at it.
    const removal = await page.evaluateHandle(() => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const isFrame = (node: Node) => node instanceof Element && node.matches(".tifo-graphic-frame");
      new MutationObserver((records) => {
        if (records.some(({ removedNodes }) => [...removedNodes].some(isFrame))) resolve();
      }).observe(document.body, { childList: true, subtree: true });
      return { promise };
    });
    await broadcast();
    await removal.evaluate(({ promise }) => promise);
    await page.keyboard.type("secret");
    expect(await page.locator("#own").inputValue()).toBe("secret");
  });
});

/** The files of a published example, as they are. */
function exampleFiles(name: string): Record<string, ZipEntry> {
  const files = globSync("**/*.*", { cwd: join(EXAMPLES, name) });
  return Object.fromEntries(files.map((file) => [file, new Uint8Array(readFileSync(join(EXAMPLES, name, file)))]));
}

describe.runIf(existsSync(EXAMPLES))("OGraf's published examples", () => {
  test.each(["minimal", "ograf-logo"])("%s is shown unmodified", async (name) => {
    const broadcast = await overlayOf(await upload(exampleFiles(name)));
    const { problems, frame } = await open();
    await broadcast();
    await frame.locator("tifo-graphic > *").first().waitFor();
    expect(problems).toEqual([]);
  });

  test("renderer-test finds nothing wrong with how it is rendered", async () => {
    const broadcast = await overlayOf(await upload(exampleFiles("renderer-test")), { message: "Hi" });
    const { frame } = await open();
    await broadcast();
    const steps: [after: string, fields: object][] = [
      ["Step 2 completed", { actions: [{ type: "play", skipAnimation: true }] }],
      ["Step 3 completed", { actions: [{ type: "play", goto: 4 }] }],
      ["Step 4 completed", { actions: [{ type: "play", delta: -1 }] }],
      ["Step 5 completed", { variables: { message: "Hello" } }],
      ["Step 6 completed", { variables: { message: "Hello" }, actions: [{ type: "stop" }] }],
      ["Step 7 completed", { variables: { message: "Hello" }, actions: [{ type: "stop", skipAnimation: true }] }],
      ["Step 8 completed", { variables: { message: "Hello" }, actions: [{ type: "custom", id: "highlight" }] }],
      ["Step 9 completed", { variables: { message: "Hello" }, actions: [{ type: "custom", id: "setColor", payload: { color: "red" } }] }],
    ];
    for (const [before, fields] of steps) {
      await frame.getByText(before).waitFor();
      await broadcast(fields);
    }
    await frame.getByText("this test is completed").waitFor();
  });
});
