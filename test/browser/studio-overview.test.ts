import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { openRun } from "./studio-run-page.ts";
import { ANNOUNCER, type Member, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-overview";

let browser: Browser;
let site: StudioSite;
let channelId: string;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  channelId = await site.create("/page/v2", { type: "channel", slug: "main", data: { name: `Main ${SCRIPT}` } });
  await site.create("/page/v2", { type: "channel", slug: "second", data: { name: "Second stage" } });
  const answers = [{ answer: "Yes" }, { answer: "No" }];
  const poll = { siteId: site.id, type: "poll", question: "Who wins?", answers };
  await site.create("/poll/v3", { ...poll, name: `Winner ${SCRIPT}`, open: true });
  const later = await site.create("/poll/v3", { ...poll, name: "Later", open: false });
  await site.call("POST", "/schedule/v1", { kind: "poll.open", targetId: later, in: 5400 });
  const [fan, other] = await Promise.all(["fan", "other"].map((name) => site.member(name, `${name}@${SLUG}.example`)));
  const message = await site.create(`/chat/v1/${channelId}/messages`, { text: SCRIPT }, fan);
  await site.call("POST", `/chat/v1/${channelId}/messages/${message}/reports`, { reason: SCRIPT }, other);
});

afterAll(() => browser.close());

const figures = (page: Page) => page.getByRole("list", { name: "Now" }).getByRole("link");
const channels = (page: Page) => page.getByRole("region", { name: "Channels" }).getByRole("listitem").getByRole("link");
const member = (name: string, roles: unknown[]): Promise<Member> => site.member(name, `${name.toLowerCase()}@${SLUG}.example`, roles);

test("an admin sees what is going on, and each figure leads to its screen", async () => {
  const { page, errors } = await site.open(browser, "", await site.admin(SLUG));
  await expect
    .poll(() => figures(page).allInnerTexts())
    .toEqual([
      "Watching now\n0\nAt most 0 in the last hour",
      "Messages to decide on\n1\nHeld or reported in the chat",
      `Open polls\n1\nWinner ${SCRIPT}`,
      "Next on the schedule\nin 1 hour\nOpens the poll Later",
    ]);
  expect(await page.getByRole("list").filter({ hasText: "Second stage" }).getByRole("link").allInnerTexts()).toEqual([
    `Main ${SCRIPT}\nmain`,
    "Second stage\nsecond",
  ]);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  const user = new KeyboardUser(page);
  await user.press(figures(page).filter({ hasText: "Open polls" }));
  await page.getByRole("heading", { level: 1, name: "Polls" }).waitFor();
  expect(errors).toEqual([]);
});

test("an admin of one channel sees nothing of the whole site, and a moderator only what waits for a decision", async () => {
  const admin = await member("Cleo", [{ scope: "*", pageId: [channelId], write: true }]);
  const { page, errors } = await site.open(browser, "", admin);
  await expect
    .poll(() => figures(page).locator(".home-figure-label").allTextContents())
    .toEqual(["Messages to decide on", "Open polls", "Next on the schedule"]);
  await expect.poll(() => channels(page).allInnerTexts()).toEqual([`Main ${SCRIPT}\nmain`]);
  const { page: desk, errors: deskErrors } = await site.open(
    browser,
    "",
    await member("Mo", [{ scope: "Chat_Moderator", pageId: [channelId], write: true }]),
  );
  await expect.poll(() => figures(desk).allInnerTexts()).toEqual(["Messages to decide on\n1\nHeld or reported in the chat"]);
  await expect.poll(() => channels(desk).allInnerTexts()).toEqual([`Main ${SCRIPT}\nmain`]);
  await channels(desk).click();
  await desk.getByRole("heading", { level: 1, name: "Moderate" }).waitFor();
  const { page: answers, errors: answerErrors } = await site.open(
    browser,
    "",
    await member("Qu", [{ scope: "Question_Answer_Moderator", pageId: [channelId], write: true }]),
  );
  await expect.poll(() => channels(answers).allInnerTexts()).toEqual([`Main ${SCRIPT}\nmain`]);
  expect(await figures(answers).count()).toBe(0);
  expect([...errors, ...deskErrors, ...answerErrors]).toEqual([]);
});

test("a figure that can't be read leaves the others, and the channels, as they are", async () => {
  const { page } = await site.open(browser, "", await site.admin(SLUG));
  await page.route(/\/chat\/v1\/queue/, (route) => route.fulfill({ status: 500, json: { code: "internal_error", message: "Down" } }));
  await page.reload();
  await figures(page).filter({ hasText: "Messages to decide on" }).getByText("Can't be read at the moment").waitFor();
  await figures(page).filter({ hasText: "Open polls" }).getByText("Winner", { exact: false }).waitFor();
  await page.getByRole("link", { name: "Second stage" }).waitFor();
});

test("a channel whose stream is live says so", async () => {
  const { page, problems } = await openRun(browser, url, "admin");
  await page.getByRole("navigation", { name: "Studio" }).getByRole("link", { name: "Run", exact: true }).click();
  const cards = page.getByRole("main").getByRole("listitem");
  await expect.poll(() => cards.filter({ hasText: "Live" }).count()).toBe(1);
  expect(await cards.count()).toBeGreaterThan(1);
  expect(problems).toEqual([]);
});
