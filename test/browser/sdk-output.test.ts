import { z } from "@hono/zod-openapi";
import sharp from "sharp";
import type { Browser, Page, WebSocketRoute } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { Deployment, SITE } from "./sdk-page.ts";
import { url } from "./test-server.ts";

const deployment = new Deployment(url);
const Created = z.object({ _id: z.string(), url: z.string() });
const CTA = { type: "open_link", data: { url: "https://demo.example/replay", label: "See the replay" } };

let browser: Browser;
let channelId: string;

beforeAll(async () => {
  browser = await launchBrowser();
});

beforeEach(async () => {
  const admin = { Authorization: `Bearer ${await deployment.signIn("admin")}` };
  const slug = `output-${crypto.randomUUID()}`;
  channelId = await deployment.create("/page/v2/", { siteId: SITE, type: "channel", slug, data: { name: "Output" } }, admin);
});

afterAll(() => browser.close());

const newOutput = async () => Created.parse(await deployment.post(`/overlay/v1/channels/${channelId}/outputs`, { name: "Studio" }));

async function open(url: string): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  return { page, problems };
}

const isLive = (page: Page) => page.locator("html[data-connection=live]").waitFor();
const shows = (page: Page, text: string) => page.frameLocator(".tifo-overlay-frame").getByText(text, { exact: true }).waitFor();
const broadcast = (html: string) =>
  deployment.broadcast([{ kind: "html", html: `<p style="color:#fff">${html}</p>`, position: "bottomLeft" }], { cta: CTA }, channelId);

test("the output page shows the channel's overlays over nothing, and nothing that could be pressed", async () => {
  const { url } = await newOutput();
  const { page, problems } = await open(url);
  await isLive(page);
  await broadcast("Goal");
  await shows(page, "Goal");
  expect(await page.getByRole("button").count()).toBe(0);
  expect(await page.locator("#output button:visible").count()).toBe(0);
  const { cursor, pointerEvents, background } = await page.evaluate(() => {
    const { cursor, pointerEvents, backgroundColor } = getComputedStyle(document.body);
    return { cursor, pointerEvents, background: backgroundColor };
  });
  expect({ cursor, pointerEvents, background }).toEqual({ cursor: "none", pointerEvents: "none", background: "rgba(0, 0, 0, 0)" });
  // Without a page's background, a corner without an overlay has no alpha at all.
  const corner = await page.screenshot({ omitBackground: true, clip: { x: 1900, y: 0, width: 4, height: 4 } });
  const pixels = await sharp(corner).ensureAlpha().raw().toBuffer();
  expect([...pixels].filter((_, index) => index % 4 === 3).every((alpha) => alpha === 0)).toBe(true);
  expect(problems).toEqual([]);
  await page.close();
});

test("the output page sends its address to nobody", async () => {
  const { url } = await newOutput();
  const page = await browser.newPage();
  const referrers: (string | undefined)[] = [];
  page.on("request", (request) => referrers.push(request.headers().referer));
  await page.goto(url);
  await isLive(page);
  expect(referrers.filter(Boolean)).toEqual([]);
  await page.close();
});

test("the output page empties when its token is revoked", async () => {
  const { _id, url } = await newOutput();
  const { page } = await open(url);
  await isLive(page);
  await broadcast("On air");
  await shows(page, "On air");
  await deployment.delete(`/overlay/v1/channels/${channelId}/outputs/${_id}`);
  await page.locator("#output").waitFor({ state: "hidden" });
  await page.close();
});

test("the output page continues by itself after its connection was lost, with what it missed", async () => {
  const { url } = await newOutput();
  const page = await browser.newPage();
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/realtime\/v1\//, (route) => {
    route.connectToServer();
    sockets.push(route);
  });
  await page.goto(url);
  await isLive(page);
  for (const socket of sockets) await socket.close({ code: 1012 });
  await broadcast("Missed");
  await shows(page, "Missed");
  expect(sockets.length).toBeGreaterThan(1);
  await page.close();
});
