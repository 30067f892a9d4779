import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment, serveHostPage, SITE } from "./sdk-page.ts";
import { url } from "./test-server.ts";

// The panels in which viewers spend money. The demo has neither a shop nor a Stripe account, so their responses are replaced.

const deployment = new Deployment(url);
const PAYMENT_PAGE = "https://checkout.stripe.example/pay";
const PRICE = { amount: 2400, currency: "gbp" };

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let token: string;
let asAdmin: { Authorization: string };

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveHostPage(deployment.url)]);
  token = await deployment.signIn();
  asAdmin = { Authorization: `Bearer ${await deployment.signIn("admin")}` };
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** A channel with one panel, and the responses of these operations. */
async function open(renderer: object, responses: Record<string, unknown>, jwt?: string) {
  const panelId = await deployment.create("/panel/v3/", { siteId: SITE, renderer }, asAdmin);
  const data = { name: "Money stage", sidebar: { panels: [panelId] } };
  const slug = `money-${panelId.slice(-6)}`;
  const channelId = await deployment.create("/page/v2/", { siteId: SITE, type: "channel", slug, data }, asAdmin);
  const page = await browser.newPage({ locale: "en-GB" });
  const bodies: unknown[] = [];
  for (const [path, json] of Object.entries(responses)) {
    await page.route(`**${path}`, async (route) => {
      const request = route.request();
      if (request.method() === "POST") bodies.push(request.postDataJSON());
      const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*" };
      await route.fulfill({ json, headers });
    });
  }
  await page.goto(host.url);
  await page.evaluate((options) => window.start(options), { channelId, mode: "light" as const, ...(jwt !== undefined && { token: jwt }) });
  await page.locator(".tifo-tabs [aria-selected=true]").waitFor();
  return { page, bodies, panelId, channelId };
}

const DONATIONS = {
  ...{ panel_type: "donations", panel_name: "Youth team", url: "https://demo.example/youth", currency: "gbp" },
  ...{ amounts: [500, 1000], minimum_amount: 200, maximum_amount: 10_000 },
};
const CHECKOUT = { "/billing/v1/donations/checkout": { chargeId: SITE, url: PAYMENT_PAGE, expiresAt: 1 } };

test("a viewer chooses or enters an amount, and continues to the payment page", async () => {
  const { page, bodies, panelId, channelId } = await open(DONATIONS, CHECKOUT, token);
  await page.getByRole("button", { name: "£10", exact: true }).click();
  await page.getByLabel("Your name (optional)").fill("Ada");
  await page.getByRole("button", { name: "Give £10" }).click();
  const link = page.getByRole("link", { name: "Continue to the payment page" });
  await link.waitFor();
  expect(await link.getAttribute("href")).toBe(PAYMENT_PAGE);
  expect(bodies).toMatchObject([{ panelId, channelId, amount: 1000, name: "Ada" }]);
  expect(await axeViolations(page, { within: ".tifo-panel" })).toEqual([]);
  const another = page.getByLabel(/^Another amount/);
  await another.fill("1.99");
  expect(await page.getByRole("button", { name: /^Give/ }).getAttribute("aria-disabled")).toBe("true");
  await another.fill("7,50");
  await page.getByRole("button", { name: "Give £7.50" }).click();
  await link.waitFor();
  expect(bodies.at(-1)).toMatchObject({ amount: 750 });
});

test("a viewer who isn't signed in is asked to", async () => {
  const { page } = await open(DONATIONS, CHECKOUT);
  await page.getByText("Sign in to give.").waitFor();
  await page.locator(".tifo-donations").getByRole("button", { name: "Sign in" }).click();
  expect(await page.evaluate(() => window.recorded.panelEvents.map(({ type }) => type))).toContain("loginRequested");
});

test("a panel without amounts links to the cause", async () => {
  const { page } = await open({ panel_type: "donations", panel_name: "Youth", url: "https://demo.example/youth" }, {});
  expect(await page.getByRole("link", { name: "Give" }).getAttribute("href")).toBe("https://demo.example/youth");
});

test("the shop's products have prices and link to the shop's own checkout", async () => {
  const variant = { _id: "1", title: "One size", sku: null, available: true, price: PRICE, checkoutUrl: "https://shop.example/cart/1:1" };
  const scarf = { _id: "1", handle: "scarf", title: "Scarf", description: "Red", available: true, url: null, image: null };
  const products = [
    { ...scarf, price: PRICE, maxPrice: PRICE, variants: [variant] },
    { ...scarf, _id: "2", title: "Shirt", available: false, price: PRICE, maxPrice: PRICE, variants: [] },
  ];
  const renderer = { panel_type: "shopify", panel_name: "Shop", url: "https://shop.example/", collection: "derby" };
  const { page } = await open(renderer, { "/shopify/v1/panels/*/products": { shopUrl: "https://shop.example", products } });
  expect(await page.getByRole("link", { name: "Buy Scarf" }).getAttribute("href")).toBe("https://shop.example/cart/1:1");
  await page.getByText("£24", { exact: true }).first().waitFor();
  await page.getByText("Sold out").waitFor();
  expect(await axeViolations(page, { within: ".tifo-panel" })).toEqual([]);
});

test("a shop that can't be reached leaves its link and a button to try again", async () => {
  const renderer = { panel_type: "shopify", panel_name: "Shop", url: "https://shop.example/", collection: "derby" };
  const { page } = await open(renderer, {});
  await page.getByRole("button", { name: "Try again" }).waitFor();
  expect(await page.getByRole("link", { name: "Open the shop" }).getAttribute("href")).toBe("https://shop.example/");
});

test("a closed wallet is as high as its line", async () => {
  const answers = [{ answer: "Harbour City" }, { answer: "Old Dock" }];
  const poll = { siteId: SITE, type: "poll", name: "Paid", question: "Who wins?", open: true, answers, responseCost: 10 };
  const pollId = await deployment.create("/poll/v3/", poll, asAdmin);
  const questions = [{ array_id: "paidPoll1", poll_id: pollId }];
  const { page } = await open({ panel_type: "quick_pick", panel_name: "Predictor", questions }, {}, token);
  const wallet = page.locator("details.tifo-wallet");
  const [card, line, padding] = await wallet.evaluate((element) => [
    element.clientHeight,
    element.querySelector("summary")?.clientHeight ?? 0,
    Number.parseFloat(getComputedStyle(element).paddingTop),
  ]);
  expect(card).toBe((line ?? 0) + 2 * (padding ?? 0));
});
