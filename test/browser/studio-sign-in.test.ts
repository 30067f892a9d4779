import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { collectErrors } from "./site.ts";
import { ANNOUNCER, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

// A sandbox, because it shows the e-mails that it would have sent.

const PASSWORD = "studio-reset-password";

const Sandbox = z.object({ site: z.object({ _id: z.string() }), developerKey: z.string(), admin: z.object({ email: z.string() }) });
const State = z.object({ mails: z.array(z.object({ to: z.string(), text: z.string() })) });

let browser: Browser;
let sandbox: z.output<typeof Sandbox>;

beforeAll(async () => {
  browser = await launchBrowser();
  sandbox = Sandbox.parse(await (await fetch(`${url}/site/v1/sandbox`, { method: "POST" })).json());
});

afterAll(() => browser.close());

/** The link in the latest e-mail to the admin; empty until there is one. */
async function mailedLink(): Promise<string> {
  const headers = { "Tifo-Client-Id": sandbox.site._id, "Tifo-Developer-Key": sandbox.developerKey };
  const { mails } = State.parse(await (await fetch(`${url}/site/v1/sandbox`, { headers })).json());
  const text = mails.find(({ to }) => to === sandbox.admin.email)?.text ?? "";
  return /http\S+token=\S+/.exec(text)?.[0] ?? "";
}

async function openStudio(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}/studio?site=${sandbox.site._id}`);
  return page;
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel("E-mail").fill(sandbox.admin.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Sign in" }).waitFor();
}

test("a forgotten password is replaced by mail, and all sessions end everywhere at once", async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await openStudio(context);
  const errors = collectErrors(page, url);
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await page.getByLabel("E-mail").fill(sandbox.admin.email);
  await press("Forgot your password?");
  await page.getByRole("heading", { name: "Reset your password" }).waitFor();
  expect(await page.getByLabel("E-mail").inputValue()).toBe(sandbox.admin.email);
  expect(await page.getByLabel("Site ID").inputValue()).toBe(sandbox.site._id);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await press("Send the link");
  await page.getByText("the e-mail is on its way", { exact: false }).waitFor();

  await expect.poll(mailedLink).not.toBe("");
  const link = await mailedLink();
  expect(link).toContain(`/studio/reset?site=${sandbox.site._id}&token=`);
  await page.goto(link);
  await page.getByLabel("New password").fill("too-short");
  await press("Set the password");
  await page.getByLabel("New password").and(page.locator("[aria-invalid=true]")).waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await page.getByLabel("New password").fill(PASSWORD);
  await press("Set the password");
  await page.getByText("Your password is set.", { exact: false }).waitFor();
  await press("To the sign-in");
  expect(new URL(page.url())).toMatchObject({ pathname: "/studio", search: "" });
  await signIn(page);

  const elsewhere = await browser.newContext();
  const other = await openStudio(elsewhere);
  await signIn(other);
  // The link works once.
  await other.goto(link);
  await other.getByLabel("New password").fill(`${PASSWORD}-again`);
  await other.getByRole("button", { name: "Set the password" }).click();
  await other.getByRole("heading", { name: "This link doesn’t work" }).waitFor();
  await other.getByRole("button", { name: "To the sign-in" }).click();
  await other.getByRole("button", { name: /^Account/ }).waitFor();

  const tab = await openStudio(context);
  await tab.getByRole("button", { name: /^Account/ }).waitFor();
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  for (const own of [page, tab]) await own.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  await other.reload();
  await other.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  expect(errors).toEqual([]);
});
