import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { CHANNEL, Deployment, openHostPage, serveHostPage, SITE } from "./sdk-page.ts";
import { url } from "./test-server.ts";

const HTML = "<p style='padding:12px;background:#000c;color:#fff'>Goal for Harbour City</p>";
const KEYS = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };
const Tokens = z.object({ jwt: z.string() });
const Bans = z.object({ results: z.array(z.object({ _id: z.string() })) });

const deployment = new Deployment(url);

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveHostPage(deployment.url)]);
  // Overlays of the demo channel that other tests have left there.
  await deployment.clear(CHANNEL);
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await deployment.clear(CHANNEL);
  const response = await fetch(`${deployment.url}/chat/v1/bans`, { headers: KEYS });
  for (const { _id } of Bans.parse(await response.json()).results)
    await fetch(`${deployment.url}/chat/v1/bans/${_id}`, { method: "DELETE", headers: KEYS });
});

afterAll(async () => {
  host.close();
  await browser.close();
});

async function tokenOf(account: "viewer" | "moderator"): Promise<string> {
  const body = { email: `${account}@demo.example`, password: `demo-${account}-pass`, siteId: SITE };
  return Tokens.parse(await deployment.post("/auth/v2/login", body, {})).jwt;
}

/** The demo channel, whose first panel is its chat, as one of the demo's accounts sees it. */
async function openAs(account: "viewer" | "moderator"): Promise<Page> {
  const { page } = await openHostPage(browser, host.url, { channelId: CHANNEL, token: await tokenOf(account) });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  return page;
}

const NO_SOCKETS = `window.WebSocket = class extends EventTarget {
  readyState = 3;
  constructor() { super(); setTimeout(() => this.dispatchEvent(new CloseEvent("close", { code: 1006 }))); }
  send() {}
  close() {}
};`;

/** The same in a network that blocks sockets. */
async function openWithoutSockets(account: "viewer" | "moderator"): Promise<Page> {
  const page = await browser.newPage();
  await page.addInitScript(NO_SOCKETS);
  await page.goto(host.url);
  await page.evaluate((options) => window.start(options), { channelId: CHANNEL, token: await tokenOf(account) });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  return page;
}

async function act(page: Page, text: string, action: string): Promise<void> {
  await page.getByRole("article").filter({ hasText: text }).hover();
  await page.getByRole("article").filter({ hasText: text }).getByRole("button", { name: "Actions for the message" }).click();
  await page.getByRole("button", { name: action }).click();
}

test("two viewers chat beside the overlays, and see at once what a moderator pins, removes and bans", async () => {
  const [viewer, moderator] = [await openAs("viewer"), await openAs("moderator")];
  await viewer.getByRole("textbox", { name: "Message" }).fill("What a save!");
  await viewer.keyboard.press("Enter");
  for (const page of [viewer, moderator]) await page.getByRole("article").filter({ hasText: "What a save!" }).waitFor();
  await moderator.getByRole("textbox", { name: "Message" }).fill("Prediction closes at half-time");
  await moderator.keyboard.press("Enter");
  await viewer.getByRole("article").filter({ hasText: "Prediction closes" }).getByText("Mod", { exact: true }).waitFor();

  await deployment.broadcast([{ kind: "html", html: HTML, position: "bottomLeft" }], {}, CHANNEL);
  for (const page of [viewer, moderator]) await page.frameLocator(".tifo-overlay-frame").getByText("Goal for Harbour City").waitFor();

  await viewer.getByRole("article").filter({ hasText: "Prediction closes" }).hover();
  await viewer.getByRole("button", { name: "React with 👍" }).last().click();
  await moderator.getByRole("button", { name: "👍 1" }).waitFor();

  await act(moderator, "Prediction closes", "Pin for everybody");
  await viewer.getByRole("complementary", { name: "Pinned message" }).getByText("Prediction closes").waitFor();
  await act(moderator, "What a save!", "Remove");
  await viewer.getByRole("article").filter({ hasText: "What a save!" }).waitFor({ state: "detached" });

  await viewer.getByRole("textbox", { name: "Message" }).fill("And again");
  await viewer.keyboard.press("Enter");
  await moderator.getByRole("article").filter({ hasText: "And again" }).waitFor();
  await act(moderator, "And again", "Mute or ban");
  await moderator.getByRole("radio", { name: "Ban" }).check();
  await moderator.getByRole("textbox", { name: "Reason" }).fill("Enough");
  await moderator.getByRole("button", { name: "Ban Vera Viewer" }).click();
  await viewer.getByText(/You can’t send messages in this chat/).waitFor();
  expect(await viewer.getByRole("textbox", { name: "Message" }).count()).toBe(0);

  await moderator.getByRole("button", { name: "Unpin" }).click();
  await viewer.getByRole("complementary", { name: "Pinned message" }).waitFor({ state: "detached" });
});

test("a viewer whose network blocks sockets chats all the same", async () => {
  const [blocked, moderator] = [await openWithoutSockets("viewer"), await openAs("moderator")];
  const words = `Over a stream of events ${Date.now()}`;
  await blocked.getByRole("textbox", { name: "Message" }).fill(words);
  await blocked.keyboard.press("Enter");
  const message = moderator.getByRole("article").filter({ hasText: words });
  await message.waitFor();
  await blocked.getByRole("article").filter({ hasText: words }).waitFor();
  await moderator.getByRole("textbox", { name: "Message" }).fill(`Seen: ${words}`);
  await moderator.keyboard.press("Enter");
  const reply = blocked.getByRole("article").filter({ hasText: `Seen: ${words}` });
  await reply.hover();
  await reply.getByRole("button", { name: "React with 👍" }).click();
  await moderator
    .getByRole("article")
    .filter({ hasText: `Seen: ${words}` })
    .getByRole("button", { name: "👍 1" })
    .waitFor();
  await act(moderator, `Seen: ${words}`, "Remove");
  await reply.waitFor({ state: "detached" });
});
