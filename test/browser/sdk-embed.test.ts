import type { Browser, Frame, Page } from "playwright-core";
import { z } from "@hono/zod-openapi";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type {} from "#sdk/elements/elements.tsx";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment, SITE } from "./sdk-page.ts";
import { type PlainPage, servePlainPage } from "./sdk-plain-page.ts";
import { createTestChannel, type SdkTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

const OEmbed = z.object({ html: z.string() });
const Configuration = z.object({ panels: z.array(z.object({ _id: z.string() })) });
const deployment = new Deployment(url);

let browser: Browser;
let host: PlainPage;
let target: SdkTestChannel;
let address: string;

beforeAll(async () => {
  [browser, host, target] = await Promise.all([launchBrowser(), servePlainPage(), createTestChannel(deployment)]);
  const response = await fetch(`${deployment.url}/page/v2/configuration/${target.channelId}`, { headers: { "Tifo-Client-Id": SITE } });
  const [panel] = Configuration.parse(await response.json()).panels;
  address = `${deployment.url}/panel/v3/embed/${SITE}/${target.channelId}/${panel?._id ?? ""}`;
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** A page of another origin with what oEmbed returns. */
async function open(): Promise<{ page: Page; frame: Frame; problems: string[] }> {
  const { html } = OEmbed.parse(await (await fetch(`${deployment.url}/panel/v3/oembed?url=${encodeURIComponent(address)}`)).json());
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const body = `<!doctype html><html lang="en"><title>Forum</title><link rel="icon" href="data:,"><main><h1>Forum</h1>${html}</main></html>`;
  host.show(body);
  await page.goto(host.url);
  await page.frameLocator("iframe").locator("tifo-panel .tifo-panel-content").waitFor();
  const [, frame] = page.frames();
  if (!frame) throw new Error("The page has no frame");
  return { page, frame, problems };
}

test("what oEmbed returns shows the panel on another site's page, live", async () => {
  const { frame, problems } = await open();
  await frame.getByRole("heading", { name: "Who scores next?" }).waitFor();
  await frame.waitForFunction(() => document.querySelector("tifo-panel")?.event?.getSnapshot().connection === "live");
  expect(problems).toEqual([]);
});

test("the frame's document has an origin of its own, and runs no other script", async () => {
  const { frame } = await open();
  expect(await frame.evaluate(() => window.origin)).toBe("null");
  const stored = await frame.evaluate(() => {
    try {
      return localStorage.length;
    } catch {
      return "none";
    }
  });
  expect(stored).toBe("none");
  await frame.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'taken'";
    document.body.append(script);
  });
  expect(await frame.title()).not.toBe("taken");
});

test("has no accessibility violation", async () => {
  const page = await browser.newPage();
  await page.goto(address);
  await page.getByRole("heading", { name: "Who scores next?" }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
});
