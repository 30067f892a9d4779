import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { DEMO_SUPER_KEY } from "#scripts/lib/state.ts";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { type PlainPage, servePlainPage } from "./sdk-plain-page.ts";
import { collectErrors } from "./site.ts";
import { ANNOUNCER, SCRIPT, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SetupLink = z.object({ url: z.string() });

let browser: Browser;
let host: PlainPage;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), servePlainPage()]);
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** The address of Studio's page that a new setup link opens. */
async function setupPage(): Promise<string> {
  const headers = { "Content-Type": "application/json", "Tifo-Super-Key": DEMO_SUPER_KEY };
  const response = await fetch(`${url}/site/v1/setup-link`, { method: "POST", headers, body: "{}" });
  const link = new URL(SetupLink.parse(await response.json()).url);
  return url + link.pathname + link.hash;
}

async function setUp(page: Page, user: KeyboardUser): Promise<void> {
  await page.goto(await setupPage());
  await user.type(page.getByLabel("Site name"), `Harbour ${SCRIPT}`);
  await user.type(page.getByLabel("Short name"), "studio-first-run");
  await user.type(page.getByLabel("Your name"), `Ada ${SCRIPT}`);
  await user.type(page.getByLabel("E-mail"), "ada@studio-first-run.example");
  await user.type(page.getByLabel("Password"), "studio-first-run-pass");
  expect(await violationsOf(page)).toEqual([]);
  await user.press(page.getByRole("button", { name: "Create the site" }));
}

/** Waits for a step of the first run, and checks its screen. */
async function onStep(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { name, level: 2 }).waitFor();
  expect(await page.getByRole("main").getByRole("heading", { level: 2 }).allTextContents()).toEqual([name]);
  expect(await page.getByRole("list", { name: "Steps" }).locator("[aria-current=step]").textContent()).toContain(name);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
}

test("a setup link and five steps lead from nothing to an overlay on a page of another origin", async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  const errors = collectErrors(page, url);
  const user = new KeyboardUser(page);
  const press = (name: string) => user.press(page.getByRole("button", { name, exact: true }));
  await setUp(page, user);

  await onStep(page, "Name and theme");
  expect(new URL(page.url())).toMatchObject({ pathname: "/studio", hash: "" });
  await user.reach(page.getByRole("radio").first());
  await user.moveTo(page.getByRole("radio", { name: "Green" }), "ArrowRight");
  await press("Save and continue");

  await onStep(page, "Channel");
  await user.type(page.getByLabel("Channel name"), "Main stage");
  expect(await page.getByLabel("Address").inputValue()).toBe("main-stage");
  await press("Create the channel");

  await onStep(page, "First overlay");
  await user.type(page.getByLabel("Name", { exact: true }), "Welcome aboard");
  await press("Create the overlay");

  // What is done is kept by the site, not by the page.
  await onStep(page, "Embed code");
  await page.reload();
  await onStep(page, "Embed code");
  host.show(`<!doctype html><title>Club</title><body>${(await page.getByRole("region", { name: "Code to paste" }).textContent()) ?? ""}`);
  const viewer = await context.newPage();
  await viewer.goto(host.url);
  await viewer.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  await user.press(page.getByRole("button", { name: /^Show “.*” now$/ }));
  await viewer.locator("#tifo-overlay").getByText("Welcome aboard", { exact: true }).waitFor();
  await page.getByText("Your page has received it.").waitFor();
  await press("Continue");

  await onStep(page, "Invite a colleague");
  await user.type(page.getByLabel("Their e-mail"), "colleague@studio-first-run.example");
  await press("Send the invitation");
  await page.getByRole("heading", { name: "What next?" }).waitFor();
  await press("Go to the overview");
  await page.getByRole("heading", { name: /^Hello/ }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: /^Hello/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});
