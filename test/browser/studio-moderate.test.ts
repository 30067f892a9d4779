import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { type Member, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const Messages = z.object({ results: z.array(z.object({ text: z.string().nullable() })) });
const Broadcasts = z.object({ results: z.array(z.object({ overlayId: z.string() })) });
const Questions = z.object({ results: z.array(z.object({ state: z.string(), answer: z.string().nullable() })) });

const Words = z.object({ renderer: z.object({ filtered_words: z.string() }) });

let browser: Browser;
let site: StudioSite;
let channelId: string;
let fan: Member;
let other: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, "studio-moderate");
  channelId = await site.create("/page/v2", { type: "channel", slug: "main", data: { name: `Main ${SCRIPT}` } });
  fan = await site.member(`Mallory ${SCRIPT}`, "mallory@studio-moderate.example");
  other = await site.member("Robin", "robin@studio-moderate.example");
});

afterAll(() => browser.close());

const say = (text: string) => site.create(`/chat/v1/${channelId}/messages`, { text }, fan);
const hold = (premoderate: boolean) => site.call("PUT", `/chat/v1/${channelId}/settings`, { premoderate });
const moderator = (name: string, write: boolean) =>
  site.member(
    name,
    `${name.toLowerCase()}@studio-moderate.example`,
    ["Chat_Moderator", "Question_Answer_Moderator"].map((scope) => ({ scope, pageId: [channelId], write })),
  );

/** What viewers read, oldest first. */
async function seen(): Promise<(string | null)[]> {
  const { results } = Messages.parse(await site.call("GET", `/chat/v1/${channelId}/messages`, undefined, other));
  return results.map(({ text }) => text).reverse();
}

test("a moderator's shift is done by keyboard alone, and one who only reads decides on nothing", async () => {
  const reported = [await say(`Reported ${SCRIPT}`), await say("Reported, but fine")];
  for (const id of reported) await site.call("POST", `/chat/v1/${channelId}/messages/${id}/reports`, { reason: SCRIPT }, other);
  await hold(true);
  await say("Held");
  const questionId = await site.create(`/qna/v1/${channelId}/questions`, { text: `Who starts? ${SCRIPT}` }, fan);

  const { page, errors } = await site.open(browser, "/moderate", await moderator("Mo", true));
  const user = new KeyboardUser(page);
  const press = (key: string) => page.keyboard.press(key);
  const waiting = page.getByRole("listbox", { name: "Messages that wait" }).getByRole("option");
  const detail = page.getByRole("region", { name: /^Mallory/ });
  const status = page.getByRole("status");
  await expect.poll(() => waiting.count()).toBe(3);
  expect(await page.getByRole("navigation", { name: "Studio" }).getByRole("link").allTextContents()).toEqual(["Overview", "Moderate"]);
  const current = detail.locator("[aria-current=true]");
  await current.getByText("Reported", { exact: false }).waitFor();
  await page.emulateMedia({ forcedColors: "active" });
  expect(await current.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe("solid");
  await page.emulateMedia({ forcedColors: "none" });
  await detail.getByText("Reported, but fine").waitFor();
  expect(await violationsOf(page)).toEqual([]);

  const { page: readOnly, errors: readOnlyErrors } = await site.open(browser, "/moderate", await moderator("Rea", false));
  await readOnly.getByText("Your role only reads").waitFor();
  for (const name of ["Approve", "Remove", "Ban"]) expect(await readOnly.getByRole("button", { name }).isDisabled()).toBe(true);

  await press("r");
  await status.getByText("Removed the message").waitFor();
  await press("a");
  await status.getByText("Approved the message").waitFor();
  await press("b");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Ban", exact: true }).and(page.locator(":focus")).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await press("Enter");
  await status.getByText("Banned Mallory").waitFor();
  await page.getByText("Nothing waits for a decision.").waitFor();
  expect(await seen()).toEqual(["Reported, but fine"]);
  await expect(say("Banned")).rejects.toThrow("chat_banned");
  await press("u");
  await page.getByText("It has been lifted.").waitFor();

  // Without a reload.
  await say("Held later");
  await waiting.getByText("Held later").waitFor();
  await expect.poll(() => readOnly.getByRole("listbox").getByRole("option").count()).toBe(1);
  await press("a");
  await status.getByText("Approved the message").waitFor();
  await expect.poll(seen).toEqual(["Reported, but fine", "Held later"]);

  await user.reach(page.getByRole("tab", { name: /^Queue/ }));
  for (const view of ["Chat", "Questions"]) {
    await press("ArrowRight");
    await page.getByRole("tabpanel", { name: new RegExp(`^${view}`) }).waitFor();
  }
  await page.getByRole("listbox", { name: "Questions" }).getByText("Who starts?").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await press("s");
  await status.getByText("is on the screen").waitFor();
  const { results } = Broadcasts.parse(await site.call("GET", "/overlay/v1/broadcasts"));
  expect(results.map(({ overlayId }) => overlayId)).toEqual([questionId]);
  await user.choose(page.getByLabel("State", { exact: true }), "Appr");
  await page.getByRole("listbox", { name: "Questions" }).getByText("Who starts?").waitFor();
  await press("Tab");
  await press("d");
  await page.getByLabel("Answer", { exact: true }).and(page.locator(":focus")).waitFor();
  await page.keyboard.type("Moreno does.");
  await user.press(dialog.getByRole("button", { name: "Mark as answered" }));
  await status.getByText("Answered the question").waitFor();
  const questions = Questions.parse(await site.call("GET", `/qna/v1/${channelId}/questions`, undefined, other));
  expect(questions.results).toEqual([{ state: "answered", answer: "Moreno does." }]);

  await user.reach(page.getByRole("tab", { name: /^Questions/ }));
  for (const [view, text] of [
    ["Polls", "No poll is open."],
    ["Bans", "Nobody is banned or muted."],
    ["Room", "Who may write"],
  ] as const) {
    await press("ArrowRight");
    await page.getByRole("tabpanel", { name: view }).getByText(text).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  }
  expect([...errors, ...readOnlyErrors]).toEqual([]);
});

test("blocked words that somebody else saves meanwhile stay, beside those that are typed", async () => {
  const renderer = { panel_type: "chat", panel_name: "Words", filtered_words: "offside" };
  const admin = await site.admin("studio-moderate");
  const id = await site.create("/panel/v3", { siteId: site.id, renderer }, admin);
  const save = (filtered_words: string) => site.call("PATCH", `/panel/v3/${id}`, { renderer: { filtered_words } }, admin);
  const words = async () => Words.parse(await site.call("GET", `/panel/v3/${id}`, undefined, admin)).renderer.filtered_words;
  const { page, errors } = await site.open(browser, "/moderate", admin);
  await page.getByRole("tab", { name: "Room" }).click();
  const field = page.getByRole("textbox", { name: "Words" });
  await field.fill("offside mine");
  await save("offside theirs");
  await page.getByRole("button", { name: "Save words" }).click();
  await expect.poll(words).toBe("offside theirs mine");
  await expect.poll(() => field.inputValue()).toBe("offside theirs mine");
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a channel after the site's 200th is found by those who work with it", async () => {
  const own = await site.call("GET", `/page/v2/${channelId}`);
  const others = Array.from({ length: 200 }, (_, index) => ({ _id: `other-${String(index)}`, slug: "other", data: { name: "Other" } }));
  const { page, errors } = await site.open(browser, "/moderate", await moderator("Pat", true));
  await page.route(/\/page\/v2\/channel\?/, (route) => {
    const isSecond = new URL(route.request().url()).searchParams.get("cursor") === "second";
    const next = isSecond ? null : "/page/v2/channel?limit=200&cursor=second";
    return route.fulfill({ json: { results: isSecond ? [own] : others, pagination: { next } } });
  });
  await page.reload();
  await page.getByRole("tab", { name: /^Queue/ }).waitFor();
  await page.goto(`${site.url}/studio/`);
  await page.getByRole("link", { name: `Main ${SCRIPT}` }).waitFor();
  expect(await page.getByRole("link", { name: /Other/ }).count()).toBe(0);
  expect(errors).toEqual([]);
  await page.context().close();
});
