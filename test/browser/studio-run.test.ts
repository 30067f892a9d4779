import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { CHANNEL, Deployment, SITE } from "./sdk-page.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { itemsOf, openRun } from "./studio-run-page.ts";
import { url } from "./test-server.ts";

const Rundowns = z.object({ results: z.array(z.object({ _id: z.string(), name: z.string() })) });
const RUNDOWN = "Keyboard show";

const deployment = new Deployment(url);
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  const headers = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };
  const { results } = Rundowns.parse(await (await fetch(`${deployment.url}/rundown/v1?channelId=${CHANNEL}`, { headers })).json());
  for (const { _id, name } of results) if (name === RUNDOWN) await deployment.delete(`/rundown/v1/${_id}`);
  await deployment.clear();
});

function violationsOf(page: Page): Promise<string[]> {
  // The header belongs to every screen, and what an overlay shows to the customer.
  return axeViolations(page, { within: "#main", exclude: [".monitor-stage"] });
}

test("an operator runs a show from an empty rundown by keyboard alone, and another one sees it", async () => {
  const { page, problems } = await openRun(browser, deployment.url, "admin");
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const dialog = page.getByRole("dialog");
  const press = (key: string) => page.keyboard.press(key);
  const user = new KeyboardUser(page);

  const audience = page.getByRole("region", { name: "Audience" });
  await audience.getByText("including this screen").waitFor();
  await user.press(button("New rundown"));
  await dialog.waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.keyboard.type(RUNDOWN);
  await press("Enter");
  await page.getByText("The rundown is empty.").waitFor();
  expect(await violationsOf(page)).toEqual([]);

  await user.press(button("Add item"));
  await user.choose(dialog.getByLabel("Overlay"), "Goal");
  await user.type(dialog.getByLabel("scorer"), "Ruth Okafor");
  // Longer than the test, however slow the machine is.
  await user.type(dialog.getByLabel("Seconds on screen"), "3600");
  await press("Enter");
  await dialog.waitFor({ state: "detached" });
  const options = itemsOf(page);
  await expect.poll(() => options.count()).toBe(1);

  await user.press(button("Add item"));
  await user.choose(dialog.getByLabel("Kind"), "Note");
  await user.type(dialog.getByLabel("Name"), "Kick-off");
  await press("Enter");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => options.allInnerTexts()).toEqual([expect.stringContaining("Goal"), expect.stringContaining("Kick-off")]);

  // The closed dialog returns the focus to "Add item", and the list is before it.
  await expect.poll(() => button("Add item").evaluate((element) => element === document.activeElement)).toBe(true);
  await user.press(page.getByRole("listbox", { name: "Items" }), "End");
  await press("Alt+ArrowUp");
  await expect.poll(() => options.allInnerTexts()).toEqual([expect.stringContaining("Kick-off"), expect.stringContaining("Goal")]);

  const preview = page.getByRole("region", { name: "Preview" });
  const program = page.getByRole("region", { name: "Program" });
  const scorer = (monitor: Locator) => monitor.getByText("Ruth Okafor", { exact: true });
  await scorer(preview).waitFor();
  expect(await scorer(program).count()).toBe(0);

  const { page: other } = await openRun(browser, deployment.url, "creator");
  await other.getByLabel("Rundown to run").selectOption({ label: RUNDOWN });
  await expect.poll(() => page.getByRole("list", { name: "Operators" }).getByRole("listitem").count()).toBe(2);

  await press("Space");
  await scorer(program).waitFor();
  await itemsOf(other).filter({ hasText: "On air" }).waitFor();
  const log = audience.getByRole("list", { name: "As run" });
  await log.getByText("Goal").waitFor();
  await expect.poll(() => log.getByRole("listitem").first().innerText()).toMatch(/Received\s+[1-9]/);
  expect(await violationsOf(page)).toEqual([]);

  await itemsOf(page).filter({ hasText: "On air" }).waitFor();
  await press("c");
  await log.getByText(/cleared/).waitFor();
  await expect.poll(() => scorer(program).count()).toBe(0);
  await user.press(button("Retract Goal"));
  await dialog.waitFor();
  await user.press(dialog.getByRole("button", { name: "Retract", exact: true }));
  await page.getByText("“Goal” is retracted.").waitFor();
  await press("h");
  const held = other.getByRole("button", { name: "Hold", exact: true });
  await expect.poll(() => held.getAttribute("aria-pressed")).toBe("true");
  await other.emulateMedia({ forcedColors: "active" });
  const edgeOf = (control: Locator) => control.evaluate((element) => getComputedStyle(element).borderColor);
  expect(await edgeOf(held)).not.toBe(await edgeOf(other.getByRole("button", { name: "Clear all", exact: true })));

  await press("p");
  await other.getByText("Rules paused").waitFor();
  await user.press(button("Resume rules"));
  await page.getByText("Rules paused").waitFor({ state: "detached" });
  expect(problems).toEqual([]);
});

test("a take is over when the screen knows what comes next, so that no press repeats it", async () => {
  const goal = { kind: "broadcast", overlayId: "5eed0000000000000000a001", broadcast: { variables: { scorer: "Ada Moreno", minute: 17 } } };
  const items = ["First", "Second", "Third"].map((name) => ({ ...goal, name }));
  const staff = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };
  const created: unknown = await deployment.post("/rundown/v1", { channelId: CHANNEL, name: RUNDOWN, items }, staff);
  const { _id } = z.object({ _id: z.string() }).parse(created);
  const { page, problems } = await openRun(browser, deployment.url, "admin");
  await page.getByLabel("Rundown to run").selectOption({ value: _id });
  await itemsOf(page).filter({ hasText: "Third" }).waitFor();
  const button = page.getByRole("button", { name: /^Take\b/ });
  const held = Promise.withResolvers<undefined>();
  let reads = 0;
  await page.route(new RegExp(`/rundown/v1/${_id}$`), async (route) => {
    reads++;
    await held.promise;
    await route.continue();
  });
  await page.getByRole("listbox", { name: "Items" }).focus();
  const log = page.getByRole("region", { name: "Audience" }).getByRole("list", { name: "As run" });
  await page.keyboard.press("Space");
  await log.getByText("First", { exact: true }).waitFor();
  expect(reads).toBeGreaterThan(0);
  expect(await button.isDisabled()).toBe(true);
  await page.keyboard.press("Space");
  held.resolve(undefined);
  await expect.poll(() => button.isEnabled()).toBe(true);
  await page.keyboard.press("Space");
  await log.getByText("Second", { exact: true }).waitFor();
  expect(await log.getByText("First", { exact: true }).count()).toBe(1);
  expect(problems).toEqual([]);
});

test("the rundown that is open stays, after a reload and when somebody adds another one", async () => {
  const add = () => deployment.create("/rundown/v1", { channelId: CHANNEL, name: RUNDOWN, items: [] });
  const first = await add();
  const { page, problems } = await openRun(browser, deployment.url, "creator");
  const chooser = page.getByLabel("Rundown to run");
  await expect.poll(() => chooser.inputValue()).toBe(first);
  const second = await add();
  // The operator comes back from another window, where the list is read again once it is ten seconds old.
  const offered = async (id: string): Promise<boolean> => {
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    return (await chooser.locator(`option[value="${id}"]`).count()) > 0;
  };
  await expect.poll(() => offered(second)).toBe(true);
  expect(await chooser.inputValue()).toBe(first);
  await page.reload();
  await expect.poll(() => chooser.inputValue()).toBe(first);
  await deployment.delete(`/rundown/v1/${first}`);
  await expect.poll(() => offered(first)).toBe(false);
  await expect.poll(() => chooser.inputValue()).toBe(second);
  expect(new URL(page.url()).searchParams.get("rundown")).toBe(second);
  expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  await page.context().close();
});

test("an item says before its turn that its overlay was deleted", async () => {
  const contents = [{ kind: "html", html: "<b>Half-time</b>", position: "bottomCenter" }];
  const overlay = { name: "Half-time", description: "", siteId: SITE, type: "template", duration: 10, contents };
  const overlayId = await deployment.create("/overlay/v1", overlay);
  const items = [
    { kind: "note", name: "Kick-off" },
    { kind: "broadcast", name: "Goal, with a name that is long enough for a second line", overlayId: "5eed0000000000000000a001" },
    { kind: "broadcast", name: "Half-time, with a name that is long enough for a second line", overlayId },
  ];
  const rundownId = await deployment.create("/rundown/v1", { channelId: CHANNEL, name: RUNDOWN, items });
  const { page, problems } = await openRun(browser, deployment.url, "creator");
  await page.getByLabel("Rundown to run").selectOption({ value: rundownId });
  const broken = itemsOf(page).filter({ hasText: "Overlay deleted" });
  await itemsOf(page).filter({ hasText: "Half-time" }).waitFor();
  expect(await broken.count()).toBe(0);
  await deployment.delete(`/overlay/v1/${overlayId}`);
  await broken.filter({ hasText: "Half-time" }).waitFor();
  expect(await broken.count()).toBe(1);
  expect(await violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test("a poll that hides its results shows a channel admin how many have responded, and a site admin what", async () => {
  const answers = [{ answer: "Harbour City" }, { answer: "Old Dock" }];
  const poll = { siteId: SITE, type: "poll", name: "Secret", question: "Who is better?", open: true, hideResults: true, answers };
  const pollId = await deployment.create("/poll/v3", poll);
  const { page: creator } = await openRun(browser, deployment.url, "creator");
  const { page: admin } = await openRun(browser, deployment.url, "admin");
  const secret = (page: Page) => page.getByRole("group", { name: "Secret" });
  await secret(creator).getByText("0 responses").waitFor();
  await secret(creator).getByText("hidden until the poll closes").waitFor();
  expect(await secret(creator).getByText("Old Dock").count()).toBe(0);
  await secret(admin).getByText("Old Dock").waitFor();
  expect(await secret(admin).getByText("hidden").count()).toBe(0);
  await deployment.delete(`/poll/v3/${pollId}`);
});

test("a channel admin is offered no item that only a site admin may add, and reads which of their channels are live", async () => {
  const { page, problems } = await openRun(browser, deployment.url, "creator");
  await page.getByRole("button", { name: "Add item" }).click();
  const kinds = page.getByRole("dialog").getByLabel("Kind").getByRole("option");
  await expect.poll(() => kinds.allTextContents()).toContain("Quest: open or close it");
  expect(await kinds.allTextContents()).not.toContain("Poll: open, close or settle it");
  const read = page.waitForResponse((response) => new URL(response.url()).pathname === "/stream/v1");
  await page.goto(`${deployment.url}/studio/run`);
  expect((await read).status()).toBe(200);
  expect(problems).toEqual([]);
});
