import { z } from "@hono/zod-openapi";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEMO_SUPER_KEY } from "#scripts/lib/state.ts";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { collectErrors } from "./site.ts";
import { SCREENS } from "./studio-screens.ts";
import { url } from "./test-server.ts";

const DESKTOP = { width: 1280, height: 800 };
const TABLET = { width: 834, height: 1112 };
const EMAIL = "director@studio.example";
const PASSWORD = "studio-director-pass";
const SCRIPT = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>`;

const Created = z.object({ site: z.object({ _id: z.string() }), developerKey: z.string() });
const Item = z.object({ _id: z.string() });
const Named = z.object({ data: z.object({ name: z.string() }) });
const Provider = z.object({ dataProviderId: z.string() });
const PROVIDER = {
  name: "Match data",
  description: "Goals",
  schema: { type: "object", properties: { score: { type: "integer" } } },
  ownerName: "Pitchside Data",
  ownerEmail: "desk@pitchside.example",
  realtime: true,
};

let browser: Browser;
let context: BrowserContext;
let errors: string[];
let site: { id: string; key: string };
let channelId: string;
let pollId: string;

beforeAll(async () => {
  browser = await launchBrowser();
  const admin = { email: EMAIL, password: PASSWORD, name: `Dora ${SCRIPT}` };
  const created = Created.parse(
    await call("POST", "/site/v1", { name: `Studio ${SCRIPT}`, slug: "studio-test", admin }, { "Tifo-Super-Key": DEMO_SUPER_KEY }),
  );
  site = { id: created.site._id, key: created.developerKey };
  channelId = Item.parse(await asKey("POST", "/page/v2", { type: "channel", slug: "first", data: { name: `First ${SCRIPT}` } }))._id;
  const html = { kind: "html", html: SCRIPT, position: "center" };
  await asKey("POST", "/overlay/v1", {
    siteId: site.id,
    name: SCRIPT,
    description: SCRIPT,
    type: "template",
    duration: 5,
    contents: [html],
  });
  const poll = {
    siteId: site.id,
    type: "poll",
    name: SCRIPT,
    question: SCRIPT,
    open: false,
    answers: [{ answer: SCRIPT }, { answer: "No" }],
  };
  pollId = Item.parse(await asKey("POST", "/poll/v3", poll))._id;
});

afterAll(() => browser.close());

beforeEach(async () => {
  context = await browser.newContext({ viewport: DESKTOP });
});

afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

describe("Studio", () => {
  test("changes a channel's name, which the table and the API then have", async () => {
    const page = await signIn();
    const user = new KeyboardUser(page);
    await user.press(page.getByRole("navigation", { name: "Studio" }).getByRole("link", { name: "Channels" }));
    await user.press(page.getByRole("table", { name: "Channels" }).getByRole("link"));
    await user.type(page.getByLabel("Name", { exact: true }), "Renamed");
    await user.press(page.getByRole("button", { name: "Save" }));
    await page.getByText("Saved.").waitFor();
    await user.press(page.getByRole("link", { name: "← Channels" }));
    await page.getByRole("rowheader", { name: "Renamed" }).waitFor();
    expect(await channel()).toMatchObject({ data: { name: "Renamed" } });
  });

  test("shows the server's objection at the field that it is about", async () => {
    const page = await signIn(`/content/channels/${channelId}`);
    const user = new KeyboardUser(page);
    await user.type(page.getByLabel("Slug"), "Not a slug");
    await user.press(page.getByRole("button", { name: "Save" }));
    await page.getByLabel("Slug").and(page.locator("[aria-invalid=true]")).waitFor();
  });

  test("shows both versions if somebody else has changed the same thing, and saves the one that is chosen", async () => {
    const page = await signIn(`/content/channels/${channelId}`);
    const user = new KeyboardUser(page);
    await user.type(page.getByLabel("Name", { exact: true }), "Mine");
    await asKey("PUT", `/page/v2/${channelId}`, { slug: "first", data: { name: "Theirs" } });
    await user.press(page.getByRole("button", { name: "Save" }));
    const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" });
    const row = dialog.getByRole("row").filter({ hasText: "About · Name" });
    await row.waitFor();
    expect(await row.getByRole("cell").allTextContents()).toEqual(["Mine", "Theirs"]);
    await user.press(dialog.getByRole("button", { name: "Save mine" }));
    await page.getByText("Saved.").waitFor();
    expect(await channel()).toMatchObject({ data: { name: "Mine" } });
  });

  test("says that a change is saved if only the answer to it was lost", async () => {
    const page = await signIn(`/content/channels/${channelId}`);
    const user = new KeyboardUser(page);
    await user.type(page.getByLabel("Name", { exact: true }), "Saved unseen");
    await page.route(`**/page/v2/${channelId}`, (route) =>
      route.request().method() === "PUT" ? route.fetch().then(() => route.abort()) : route.continue(),
    );
    await page.getByRole("button", { name: "Save" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "The server can't be reached." });
    await alert.waitFor();
    // The form is longer than the window, and the button is always in it.
    expect((await alert.boundingBox())?.y).toBeLessThan(DESKTOP.height);
    await page.unroute(`**/page/v2/${channelId}`);
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Your version is saved" });
    await user.press(dialog.getByRole("button", { name: "OK" }));
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Saved unseen");
    await page.getByRole("button", { name: "Discard changes" }).waitFor({ state: "detached" });
    expect(await channel()).toMatchObject({ data: { name: "Saved unseen" } });
  });

  test("makes an API key that is shown once, works, and is rejected after it has been revoked", async () => {
    const page = await signIn("/developers/keys");
    const user = new KeyboardUser(page);
    await user.press(page.getByRole("button", { name: "New key" }));
    await user.type(page.getByLabel("Name", { exact: true }), "Scoreboard");
    await user.type(page.getByLabel("Roles"), "overlay:read");
    await user.press(page.getByRole("button", { name: "Create" }));
    const key = await page.getByLabel("Developer key").inputValue();
    const listOverlays = () => fetch(`${url}/overlay/v1`, { headers: { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": key } });
    expect((await listOverlays()).status).toBe(200);
    await user.press(page.getByRole("button", { name: "Done" }));
    await user.press(page.getByRole("button", { name: "Revoke Scoreboard" }));
    await user.press(page.getByRole("button", { name: "Revoke", exact: true }));
    await page.getByText("The key has been revoked.").waitFor();
    expect((await listOverlays()).status).toBe(401);
  });

  test("makes a webhook endpoint whose secret is shown once, changes it, and shows what the server objects to", async () => {
    const page = await signIn("/developers/deliveries");
    await page.getByText("The site has no webhook endpoint.").waitFor();
    const user = new KeyboardUser(page);
    await user.press(page.getByRole("button", { name: "Endpoint…" }));
    const dialog = page.getByRole("dialog", { name: "Webhook endpoint" });
    await user.type(dialog.getByLabel("URL"), "http://hooks.example/");
    await user.press(dialog.getByLabel("Overlay"), "Space");
    await user.press(dialog.getByRole("button", { name: "Create" }));
    await dialog.getByLabel("URL").and(page.locator("[aria-invalid=true]")).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await user.type(dialog.getByLabel("URL"), "https://hooks.example/tifo");
    await user.press(dialog.getByRole("button", { name: "Create" }));
    const secret = await page.getByLabel("Secret that signs the deliveries").inputValue();
    expect(secret).toMatch(/^whsec_/);
    await user.press(page.getByRole("button", { name: "Done" }));
    await page.getByText("There are no deliveries.").waitFor();
    await user.press(page.getByRole("button", { name: "Endpoint…" }));
    await user.press(dialog.getByRole("switch", { name: "Send events" }), "Space");
    await user.press(dialog.getByRole("button", { name: "Save" }));
    await page.getByText("Saved.").waitFor();
    const stored = await asKey("GET", "/webhooks/v1", undefined);
    expect(stored).toMatchObject({
      enabled: false,
      webhookUrl: "https://hooks.example/tifo",
      webhookSubscriptions: { "overlay-service-v1": true },
    });
    await user.press(page.getByRole("button", { name: "Endpoint…" }));
    await user.press(dialog.getByRole("button", { name: "New secret" }));
    expect(await page.getByLabel("Secret that signs the deliveries").inputValue()).not.toBe(secret);
  });

  test("lists the site's requests with links to what they mean, and filters them by status and route", async () => {
    const page = await signIn("/developers/requests");
    const missing = await fetch(`${url}/page/v2/5eed000000000000000fffff`, {
      headers: { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": site.key, "Tifo-Request-Id": "studio.missing-page" },
    });
    expect(missing.status).toBe(404);
    const table = page.getByRole("table", { name: "Requests" });
    const row = table.getByRole("row").filter({ hasText: "studio.missing-page" });
    expect(await row.getByRole("link", { name: "/page/v2/{id}" }).getAttribute("href")).toBe("/docs/api-reference/getPage");
    expect(await row.getByRole("link", { name: "not_found" }).getAttribute("href")).toBe("/errors#not_found");
    await table.getByRole("cell", { name: "200" }).first().waitFor();
    // Long routes and codes continue on the next line: a tablet shows the whole table.
    await fetch(`${url}/personalization/v1/channels/${channelId}/rule-pause`, { headers: { "Tifo-Client-Id": site.id } });
    await table.getByRole("link", { name: "/personalization/v1/channels/{channelId}/rule-pause" }).first().waitFor();
    await page.setViewportSize(TABLET);
    const frame = page.getByRole("region", { name: "Requests" });
    expect(await frame.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    await page.setViewportSize(DESKTOP);
    await page.getByLabel("Status").selectOption("4xx");
    await page.getByLabel("Route").selectOption("/page/v2/{id}");
    await table.getByRole("cell", { name: "200" }).first().waitFor({ state: "detached" });
    await row.waitFor();
    await page.getByLabel("Find").fill("no such text");
    await page.getByText("Nothing matches.").waitFor();
  });

  test("removes what was scheduled, and deletes the ticked rules together", async () => {
    await asKey("POST", "/schedule/v1", { kind: "poll.open", targetId: pollId, in: 3600 });
    const answers = [{ answer: "Yes" }, { answer: "No" }];
    const poll = { siteId: site.id, type: "poll", name: "Short-lived", question: "Yet?", open: false, answers };
    const closed = Item.parse(await asKey("POST", "/poll/v3", poll))._id;
    const { dataProviderId } = Provider.parse(await asKey("POST", "/dataprovider/v1/registration", PROVIDER));
    const creates = { type: "CREATE_CHANNEL", name: { type: "static", value: "After the goal" } };
    const closes = { type: "LOCK_POLL", pollId: closed };
    for (const [name, action] of Object.entries({ "First rule": creates, "Second rule": closes, "Third rule": creates })) {
      const trigger = { dataProviderId, fact: "score", operator: "greater_than", value: 0, behavior: "immediate" };
      await asKey("POST", "/personalization/v1/automation-rule", { name, jsonRule: { trigger, action }, active: false });
    }
    await asKey("DELETE", `/poll/v3/${closed}`, undefined);
    const page = await signIn("/schedule");
    const row = page.getByRole("table", { name: "Scheduled actions" }).getByRole("row").filter({ hasText: "Opens the poll" });
    await row.getByText(/^in (59 minutes|1 hour)$/).waitFor();
    const user = new KeyboardUser(page);
    await user.press(row.getByRole("button", { name: /^Remove/ }));
    await user.press(page.getByRole("dialog").getByRole("button", { name: "Remove" }));
    await page.getByText("Nothing is scheduled.").waitFor();
    await page.goto(`${url}/studio/rules`);
    await page.getByRole("row", { name: "Second rule" }).getByText("Poll deleted").waitFor();
    expect(await page.getByText("Poll deleted").count()).toBe(1);
    for (const name of ["First rule", "Third rule"]) await user.press(page.getByLabel(`Select ${name}`), "Space");
    expect(await axeViolations(page)).toEqual([]);
    await user.press(page.getByRole("group", { name: "Selected rules" }).getByRole("button", { name: "Delete…" }));
    await user.press(page.getByRole("dialog", { name: "Delete 2 rules?" }).getByRole("button", { name: "Delete" }));
    await page.getByText("2 rules deleted.").waitFor();
    await page.getByRole("link", { name: "First rule" }).waitFor({ state: "detached" });
    expect(await page.getByRole("table", { name: "Rules" }).getByRole("rowheader").allTextContents()).toEqual(["Second rule"]);
  });

  test("asks before it deletes something, then shows the list without it, or why it is still there", async () => {
    const answers = [{ answer: "Yes" }, { answer: "No" }];
    const poll = { siteId: site.id, type: "poll", name: "Surplus", question: "Surplus?", open: false, answers };
    const things = [
      { noun: "poll", screen: "/polls", api: "/poll/v3", body: poll },
      {
        noun: "channel",
        screen: "/content/channels",
        api: "/page/v2",
        body: { type: "channel", slug: "surplus", data: { name: "Surplus" } },
      },
    ];
    const page = await signIn();
    const user = new KeyboardUser(page);
    const removal = async (noun: string): Promise<void> => {
      await user.press(page.getByRole("button", { name: "Delete…" }));
      const dialog = page.getByRole("dialog", { name: `Delete the ${noun}?` });
      await dialog.getByText("Surplus", { exact: true }).waitFor();
      await user.press(dialog.getByRole("button", { name: "Delete" }));
      await dialog.waitFor({ state: "detached" });
    };
    for (const { noun, screen, api, body } of things) {
      const { _id } = Item.parse(await asKey("POST", api, body));
      await page.goto(`${url}/studio${screen}/${_id}`);
      await removal(noun);
      await page.getByText(`The ${noun} has been deleted.`).waitFor();
      await page.waitForURL(`${url}/studio${screen}`);
      await expect(asKey("GET", `${api}/${_id}`, undefined)).rejects.toThrow("404");
    }
    const { _id } = Item.parse(await asKey("POST", "/poll/v3", poll));
    await page.goto(`${url}/studio/polls/${_id}`);
    await page.route(`${url}/poll/v3/${_id}`, (route) =>
      route.request().method() === "DELETE"
        ? route.fulfill({ status: 409, json: { code: "conflict", message: "Not now" } })
        : route.fallback(),
    );
    await removal("poll");
    await page.getByText("Not now").waitFor();
    expect(page.url()).toBe(`${url}/studio/polls/${_id}`);
  });

  test("shows a channel admin the insights of the role's channels, and nothing of the site or of other channels", async () => {
    const email = "channel@studio.example";
    const roles = [{ scope: "*", pageId: [channelId], write: true }];
    await asKey("PUT", "/account/v3", { email, password: PASSWORD, name: "Cleo", roles });
    await asKey("POST", "/page/v2", { type: "channel", slug: "second", data: { name: "Second" } });
    const page = await openSignIn();
    await fillSignIn(page, email);
    await page.getByRole("navigation", { name: "Studio" }).getByRole("link", { name: "Insights" }).click();
    await page.getByRole("heading", { name: "Participation by poll" }).waitFor();
    const options = page.getByLabel("Channel", { exact: true }).getByRole("option");
    await expect.poll(() => options.allTextContents()).toEqual([Named.parse(await channel()).data.name]);
    await page.getByRole("region", { name: "Participation by poll" }).getByText("No poll was shown in this time.").waitFor();
    expect(await page.getByText("Revenue").count()).toBe(0);
  });

  test("signs all tabs out together, and shows nothing to an account without a role", async () => {
    const page = await signIn();
    const other = await context.newPage();
    await other.goto(`${url}/studio`);
    await other.getByRole("heading", { name: /^Hello/ }).waitFor();
    const user = new KeyboardUser(page);
    await user.press(page.getByRole("button", { name: /^Account/ }));
    await user.moveTo(page.getByRole("menuitem", { name: "Sign out", exact: true }), "ArrowDown");
    await page.keyboard.press("Enter");
    await other.getByRole("button", { name: "Sign in" }).waitFor();
    await call("POST", "/account/v3", { email: "fan@studio.example", password: PASSWORD, name: "Fan" }, { "Tifo-Client-Id": site.id });
    await fillSignIn(page, "fan@studio.example");
    await page.getByText("Your account has no role on this site.").waitFor();
  });

  test("runs no script that somebody has written into a name, and has no accessibility violations on a desktop and a tablet", async () => {
    await asKey("PUT", `/page/v2/${channelId}`, { slug: "first", data: { name: `First ${SCRIPT}` } });
    const page = await openSignIn();
    expect(await axeViolations(page)).toEqual([]);
    await fillSignIn(page, EMAIL);
    await page.getByRole("heading", { name: /^Hello/ }).waitFor();
    const modes = [
      { viewport: DESKTOP, colorScheme: "light" },
      { viewport: TABLET, colorScheme: "dark" },
    ] as const;
    for (const screen of [...SCREENS, `/content/channels/${channelId}`]) {
      await page.goto(`${url}/studio${screen}`);
      await page.getByRole("main").getByRole("heading", { level: 1 }).waitFor();
      await page.getByRole("button", { name: /^Account/ }).waitFor();
      await page.locator(".state").filter({ hasText: "Loading" }).first().waitFor({ state: "detached" });
      for (const { viewport, colorScheme } of modes) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await axeViolations(page), `${screen} ${colorScheme}`).toEqual([]);
      }
      expect(await page.evaluate("window.ran")).toBeUndefined();
    }
  });
});

async function openSignIn(): Promise<Page> {
  const page = await context.newPage();
  errors = collectErrors(page, url);
  await page.goto(`${url}/studio?site=${site.id}`);
  await page.getByLabel("E-mail").waitFor();
  return page;
}

async function fillSignIn(page: Page, email: string): Promise<void> {
  const user = new KeyboardUser(page);
  await user.type(page.getByLabel("E-mail"), email);
  await user.type(page.getByLabel("Password"), PASSWORD);
  await user.press(page.getByRole("button", { name: "Sign in" }));
}

async function signIn(screen = ""): Promise<Page> {
  const page = await openSignIn();
  await fillSignIn(page, EMAIL);
  await page.getByRole("heading", { name: /^Hello/ }).waitFor();
  if (screen !== "") await page.goto(`${url}/studio${screen}`);
  return page;
}

function channel(): Promise<unknown> {
  return call("GET", `/page/v2/${channelId}`, undefined, { "Tifo-Client-Id": site.id });
}

function asKey(method: string, path: string, body: unknown): Promise<unknown> {
  return call(method, path, body, { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": site.key });
}

async function call(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<unknown> {
  const init = {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  };
  const response = await fetch(url + path, init);
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${await response.text()}`);
  return response.json();
}
