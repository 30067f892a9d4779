import { createHmac } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment, openHostPage, serveHostPage, SITE, type StartOptions } from "./sdk-page.ts";
import { url } from "./test-server.ts";

const Registered = z.object({ dataProviderId: z.string(), secret: z.string() });
const deployment = new Deployment(url);
const key = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let channelId: string;
let provider: z.output<typeof Registered>;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveHostPage(deployment.url)]);
  const asAdmin = { Authorization: `Bearer ${await deployment.signIn("admin")}` };
  const people = Array.from({ length: 12 }, (_, index) => ({
    id: `coach-${index}`,
    person_name: `Coach ${index}`,
    person_bio: "Since 2024.",
  }));
  const renderer = { panel_type: "peopleGroups", panel_name: "Squad", people, groups: [{ id: "staff", group_name: "The staff" }] };
  const panels = [
    await deployment.create("/panel/v3/", { siteId: SITE, renderer: { panel_type: "chat", panel_name: "Chat" } }, asAdmin),
    await deployment.create("/panel/v3/", { siteId: SITE, renderer }, asAdmin),
  ];
  const page = { siteId: SITE, type: "channel", slug: `facts-${Date.now().toString(36)}` };
  channelId = await deployment.create("/page/v2/", { ...page, data: { name: "Facts", sidebar: { panels } } }, asAdmin);
  const schema = { type: "object", properties: { players: { type: "array" }, play: { type: "object" } } };
  const input = { name: "Match data", description: "Facts", schema, ownerName: "Desk", ownerEmail: "desk@demo.example", realtime: true };
  provider = Registered.parse(await deployment.post("/dataprovider/v1/registration", input));
  const facts = { goals: "goals", shots_on_target: "shots", position: "position" };
  const mapping = {
    entities: [{ channelId, each: "players", entityType: "player", id: "id", name: "name", team: "team", facts }],
    keyPlays: [{ channelId, id: "play.id", kind: "play.kind", title: "play.title", mediaTime: "play.time" }],
  };
  const address = `${deployment.url}/stats/v1/mappings/${provider.dataProviderId}`;
  const response = await fetch(address, { method: "PUT", headers: key, body: JSON.stringify(mapping) });
  if (!response.ok) throw new Error(await response.text());
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** Sends an event as the data provider. */
async function report(event: object): Promise<void> {
  const body = JSON.stringify(event);
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", provider.secret).update(`${timestamp}.${body}`).digest("hex");
  const headers = {
    ...{ "Tifo-Client-Id": SITE, "Content-Type": "application/json" },
    ...{ "Tifo-Signature": signature, "Tifo-Timestamp": String(timestamp) },
  };
  const response = await fetch(`${deployment.url}/dataprovider/v1/${provider.dataProviderId}/events`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
}

const squad = (goals: number) => ({
  players: Array.from({ length: 11 }, (_, index) => ({
    ...{ id: `player-${index}`, name: `Player ${index}`, team: index < 6 ? "Harbour City" : "Old Dock", position: "forward" },
    ...{ goals: index === 9 ? goals : 0, shots: index },
  })),
});

async function open(options: StartOptions = {}, viewport = { width: 1280, height: 720 }): Promise<Page> {
  const { page } = await openHostPage(browser, host.url, { channelId, ...options }, viewport);
  await page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  return page;
}

const card = (page: Page, name: string) => page.locator(".tifo-card").filter({ has: page.getByRole("heading", { name, exact: true }) });

test("viewers see what a provider reports within moments, without asking for it", async () => {
  const page = await open();
  await page.getByRole("tab", { name: "Squad" }).click();
  await page.getByRole("heading", { name: "Coach 11" }).waitFor();
  await report(squad(0));
  await page.getByRole("heading", { name: "Player 9" }).waitFor();
  // The loads of the panel's start are over, so what follows comes over the channel.
  await page.waitForLoadState("networkidle");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await report({ ...squad(1), play: { id: "g1", kind: "goal", title: "0:1 Player 9", time: 75 } });
  await card(page, "Player 9").locator("div", { hasText: "goals" }).getByText("1", { exact: true }).waitFor();
  await page.getByRole("button", { name: "0:1 Player 9" }).waitFor();
  expect(requests.filter((url) => url.includes("/stats/"))).toEqual([]);
  expect(await page.getByRole("region", { name: "Old Dock" }).getByRole("listitem").count()).toBe(5);
});

test.each([
  ["show_group", { groupId: "staff" }, "About the team", "The staff"],
  ["show_player_stats", { playerId: "player-9" }, "Player stats", "Player 9"],
  ["show_person", { personId: "player-8" }, "About", "Player 8"],
  ["show_person", { personId: "coach-11" }, "About", "Coach 11"],
] as const)("the call to action %s %j opens the panel, scrolls to who it is about and focuses them", async (type, data, label, name) => {
  await report(squad(1));
  const page = await open();
  const contents = [{ kind: "html", html: "<b>Look who it is</b>", position: "topCenter" }];
  await deployment.broadcast(contents, { cta: { type, data } }, channelId);
  await page.getByRole("button", { name: label, exact: true }).click();
  const shown = card(page, name);
  await shown.waitFor();
  await expect.poll(() => shown.evaluate((element) => element === document.activeElement)).toBe(true);
  // Cards above it may still be loading.
  const isInView = (element: Element): boolean => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  };
  await expect.poll(() => shown.evaluate(isInView)).toBe(true);
  await deployment.clear(channelId);
});

test.each([
  ["phone", "light", { width: 320, height: 640 }],
  ["desktop", "dark", { width: 1280, height: 800 }],
] as const)("on a %s in %s mode there is no accessibility violation, and the panel fits its width", async (_, mode, viewport) => {
  await report(squad(1));
  const page = await open({ mode }, viewport);
  await page.getByRole("tab", { name: "Squad" }).click();
  await page.getByRole("heading", { name: "Player 9" }).waitFor();
  expect(await axeViolations(page, { within: ".tifo-panel" })).toEqual([]);
  const overflow = await page.locator(".tifo-panel-content").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  expect(overflow).toBeLessThanOrEqual(0);
});
