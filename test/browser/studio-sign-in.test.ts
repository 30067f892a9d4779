import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { launchBrowser } from "./browser.ts";
import { collectErrors } from "./site.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { ANNOUNCER, SCRIPT, STUDIO_PASSWORD, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

// A sandbox, because it shows the e-mails that it would have sent.

const PASSWORD = "studio-reset-password";

const Sandbox = z.object({ site: z.object({ _id: z.string() }), developerKey: z.string(), admin: z.object({ email: z.string() }) });
const Invite = z.object({ inviteUrl: z.string() });
const Accounts = z.object({ results: z.array(z.object({ _id: z.string(), name: z.string() })) });
const Tokens = z.object({ jwt: z.string() });
const Account = z.object({ emailVerified: z.boolean() });
const Event = z.object({ data: z.object({ _id: z.string(), kind: z.string().optional() }) });
const Events = z.object({ results: z.array(Event) });
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
  const { mails } = State.parse(await call("GET", "/site/v1/sandbox", undefined));
  const text = mails.find(({ to }) => to === sandbox.admin.email)?.text ?? "";
  return /http\S+token=\S+/.exec(text)?.[0] ?? "";
}

/** The token of the latest e-mail of a kind. Those to a global account aren't the sandbox's, and therefore not shown there. */
async function tokenOf(type: string, purpose: string, isOfKind: (event: z.output<typeof Event>) => boolean = () => true): Promise<string> {
  const latest = async () => {
    const { results } = Events.parse(await call("GET", `/webhooks/v1/events?types=${type}&limit=200`, undefined));
    return results.filter(isOfKind).at(-1)?.data._id ?? "";
  };
  await expect.poll(latest).not.toBe("");
  const secret = readFileSync(join(process.env.TIFO_TEST_STATE ?? "", "secret"), "utf8");
  return signContent({ TIFO_SECRET: secret }, purpose, await latest());
}

/** Calls the API with the sandbox's key, or with a token. */
async function call(method: string, path: string, body: unknown, jwt?: string): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: {
      "Content-Type": "application/json",
      "Tifo-Client-Id": sandbox.site._id,
      ...(jwt === undefined ? { "Tifo-Developer-Key": sandbox.developerKey } : { Authorization: `Bearer ${jwt}` }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${await response.text()}`);
  return response.json();
}

/** Gives the admin a password, and a verified address, which a global account needs. */
async function verifyAdmin(): Promise<void> {
  const { email } = sandbox.admin;
  const body = { email, name: "Sandbox admin", password: PASSWORD };
  if (Account.parse(await call("PUT", "/account/v3", body)).emailVerified) return;
  await call("POST", "/account/v3/reset", { email, baseUrl: `${url}/studio/reset?site=${sandbox.site._id}` });
  const token = await tokenOf("account.passwordResetRequested", "password reset");
  await call("POST", "/account/v3/reset/update", { token, password: PASSWORD });
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

test("a magic link signs its visitor in at its address, once, and replaces no session unasked", async () => {
  const site = sandbox.site._id;
  const redirectUri = `${url}/studio/polls?site=${site}`;
  const invitation = async () =>
    Invite.parse(await call("POST", "/invite/v1/magic-link", { siteId: site, redirectUri, targetSkus: ["crew"] })).inviteUrl;
  await call("POST", "/subscription/v2", { siteId: site, name: "Crew", sku: "crew", subscriptionProvider: "external" });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  const errors = collectErrors(page, url);
  await page.goto(await invitation());
  await page.getByText("Your account has no role on this site.").waitFor();
  expect(page.url()).toBe(redirectUri);
  const { results } = Accounts.parse(await call("GET", "/account/v3?search=Guest", undefined));
  const [guest] = results.filter(({ name }) => name === "Guest");
  await call("PUT", `/account/v3/roles/${guest?._id ?? ""}`, { roles: [{ scope: "*", pageId: [], write: true }] });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Polls" }).waitFor();

  const link = await invitation();
  await page.goto(link);
  await page.getByRole("heading", { name: "You are signed in already" }).waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await page.getByRole("button", { name: "Stay signed in" }).click();
  await page.getByRole("heading", { level: 1, name: "Polls" }).waitFor();
  expect(page.url()).toBe(redirectUri);
  await page.goto(link);
  await page.getByRole("button", { name: "Use the link" }).click();
  await page.getByText("Your account has no role on this site.").waitFor();

  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(`${redirectUri}&intent=${"a".repeat(43)}`);
  await stranger.getByRole("heading", { name: "This link doesn’t work" }).waitFor();
  await stranger.getByRole("button", { name: "To the sign-in" }).click();
  await stranger.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  expect(stranger.url()).toBe(redirectUri);
  expect(errors).toEqual([]);
});

test("the forgotten password of a global account is replaced by mail, and its sites can be chosen again", async () => {
  await verifyAdmin();
  const credentials = { email: sandbox.admin.email, password: PASSWORD, siteId: sandbox.site._id };
  const { jwt } = Tokens.parse(await call("POST", "/auth/v2/login", credentials));
  await call("POST", "/account/v3/global", {}, jwt);
  const token = await tokenOf("account.globalAccountRequested", "global account");
  await call("POST", "/account/v3/global/confirm", { token, password: "studio-forgotten-global" }, jwt);

  const context = await browser.newContext({ viewport: { width: 834, height: 1112 }, reducedMotion: "reduce", colorScheme: "dark" });
  const page = await openStudio(context);
  const errors = collectErrors(page, url);
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await page.getByLabel("E-mail").fill(sandbox.admin.email);
  await page.getByLabel("Site ID").fill("");
  await press("Forgot your password?");
  await page.getByLabel("Account").and(page.locator("select")).waitFor();
  expect(await page.getByLabel("Account").inputValue()).toBe("global");
  await page.getByLabel("Site ID").fill(sandbox.site._id);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await press("Send the link");
  await page.getByText("the e-mail is on its way", { exact: false }).waitFor();
  const reset = await tokenOf("account.passwordResetRequested", "password reset", ({ data }) => data.kind === "global");
  await page.goto(`${url}/studio/reset-global?site=${sandbox.site._id}&token=${encodeURIComponent(reset)}`);
  await page.getByLabel("New password").fill("studio-remembered-global");
  await press("Set the password");
  await page.getByText("Your password is set.", { exact: false }).waitFor();
  await press("To the sign-in");
  await page.getByLabel("E-mail").fill(sandbox.admin.email);
  await page.getByLabel("Password").fill("studio-remembered-global");
  await page.getByLabel("Site ID").fill("");
  await press("Sign in");
  await page.getByRole("heading", { name: "Choose a site" }).waitFor();
  // The site's own password is another one, and has stayed.
  await page.getByRole("region", { name: "Choose a site" }).getByRole("button").click();
  await page.getByText("is wrong", { exact: false }).waitFor();
  await page.getByLabel("Password").fill(PASSWORD);
  await press("Sign in");
  await page.getByRole("button", { name: /^Account/ }).waitFor();
  expect(errors).toEqual([]);
});

test("the site menu leads with the keyboard alone to another site's sign-in, and back to a site without one", async () => {
  const create = (slug: string) => StudioSite.create(url, slug, { site: `${slug} ${SCRIPT}`, admin: "Ada" });
  const [first, second] = [await create("menu-first"), await create("menu-second")];
  const { page, errors } = await first.open(browser, "", await first.admin("menu-first"));
  const user = new KeyboardUser(page);
  const menu = page.getByRole("button", { name: /^Site: / });
  const choose = async (name: string | RegExp) => {
    await user.press(menu);
    await user.moveTo(page.getByRole("menuitem", { name }), "ArrowDown");
    await page.keyboard.press("Enter");
  };
  await choose("Sign in to another site…");
  await user.type(page.getByLabel("Site ID"), second.id);
  await user.type(page.getByLabel("E-mail"), "admin@menu-second.example");
  await user.type(page.getByLabel("Password"), STUDIO_PASSWORD);
  await user.press(page.getByRole("button", { name: "Sign in", exact: true }));
  await menu.filter({ hasText: "menu-second" }).waitFor();
  await user.press(menu);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await page.keyboard.press("Escape");
  await choose(/^menu-first/);
  await menu.filter({ hasText: "menu-first" }).waitFor();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(errors).toEqual([]);
});
