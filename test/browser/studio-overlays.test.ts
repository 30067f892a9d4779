import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { ANNOUNCER, type Member, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-overlays";
const Overlay = z.object({ duration: z.number(), contents: z.array(z.record(z.string(), z.unknown())) });

let browser: Browser;
let site: StudioSite;
let admin: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
});

afterAll(() => browser.close());

async function created(page: Page): Promise<z.output<typeof Overlay>> {
  await new KeyboardUser(page).press(page.getByRole("button", { name: "Create", exact: true }));
  await page.waitForURL(/\/overlays\/[0-9a-f]{24}/);
  return Overlay.parse(await site.call("GET", `/overlay/v1/${/[0-9a-f]{24}/.exec(page.url())?.[0] ?? ""}`));
}

test("html of one's own is written with its variables asked for, and previewed at four sizes without running anything", async () => {
  const { page, errors } = await site.open(browser, "/overlays/new", admin);
  const user = new KeyboardUser(page);
  await user.press(page.getByRole("button", { name: /^HTML/ }));
  await user.type(page.getByLabel("Name", { exact: true }), `Half-time ${SCRIPT}`);
  await user.paste(page.getByLabel("Markup"), `<p class="x">{{scorer}} at {{minute}}</p>${SCRIPT}`);
  await user.type(page.getByLabel("scorer"), `Marta ${SCRIPT}`);
  await user.type(page.getByLabel("minute"), "17");
  expect(await page.getByLabel("headline").count()).toBe(0);
  const previews = page.getByRole("region", { name: "Preview" });
  expect(await previews.locator("iframe").count()).toBe(4);
  await previews.locator("iframe").first().contentFrame().getByText("at 17").waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  expect((await created(page)).contents).toMatchObject([{ kind: "html", variables: { scorer: `Marta ${SCRIPT}`, minute: "17" } }]);
  expect(errors.filter((error) => !error.includes("Content Security Policy"))).toEqual([]);
});

test("the html editor works by keyboard, names the problems of the text in place, and takes back what is discarded", async () => {
  const { page, errors } = await site.open(browser, "/overlays/new", admin);
  await page.getByRole("button", { name: /^HTML/ }).click();
  const markup = page.getByRole("textbox", { name: "Markup" });
  await markup.waitFor();
  await page.getByText("Markup", { exact: true }).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(`<p>{{scorer}}</p>`);
  expect(await markup.innerText()).toBe("<p>{{scorer}}</p>");
  expect(await page.getByRole("list", { name: "Problems" }).count()).toBe(0);
  await page.keyboard.press("Enter");
  await page.keyboard.insertText(`<b style="color: red">{{first name}}`);
  const problems = page.getByRole("list", { name: "Problems" }).getByRole("button");
  await page.getByRole("status").filter({ hasText: "2 problems" }).waitFor();
  expect(await problems.allTextContents()).toEqual([
    "Line 2 <b> is never closed",
    "Line 2 {{first name}} isn't a variable: write {{name}}, with letters, digits, “_”, “.” and “-”",
  ]);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // Buttons change their colours in a moment.
    await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => undefined)");
    expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  }
  // Tab leaves the editor, and a problem leads back to its place.
  await page.keyboard.press("Tab");
  await expect.poll(() => problems.first().evaluate((button) => button === document.activeElement)).toBe(true);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.insertText("{{minute}}</b>");
  await page.getByLabel("minute").waitFor();
  await problems.first().waitFor({ state: "detached" });
  await page.keyboard.press("ControlOrMeta+z");
  await page.getByLabel("minute").waitFor({ state: "detached" });
  await page.keyboard.press("ControlOrMeta+Shift+Z");
  const { contents } = await created(page);
  const html = `<p>{{scorer}}</p>\n<b style="color: red">{{minute}}</b>`;
  expect(contents).toMatchObject([{ kind: "html", html }]);
  await markup.fill("<i>Other</i>");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await page.getByLabel("minute").waitFor();
  expect(await markup.innerText()).toBe(html);
  expect(errors).toEqual([]);
});

test("without the editor's own file, the text can still be changed", async () => {
  const { page } = await site.open(browser, "/overlays/new", admin);
  await page.route(/code-editor/, (route) => route.abort());
  await page.getByRole("button", { name: /^HTML/ }).click();
  await page.getByLabel("Markup").fill("<b>{{scorer}}</b>");
  await page.getByLabel("scorer").waitFor();
  expect(await page.getByLabel("Markup").inputValue()).toBe("<b>{{scorer}}</b>");
});

test("an image that is uploaded while the list of images is still on its way is in the list", async () => {
  const { page, errors } = await site.open(browser, "/overlays/new", admin);
  const user = new KeyboardUser(page);
  await user.press(page.getByRole("button", { name: /^Goal/ }));
  await user.type(page.getByLabel("Name", { exact: true }), "Goal");
  // The server answers the list before the upload, and the answer arrives after it.
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let isFirst = true;
  await page.route(/\/media\/v1\?/, async (route) => {
    const response = await route.fetch();
    if (isFirst) {
      isFirst = false;
      await held;
    }
    await route.fulfill({ response });
  });
  const choose = page.getByRole("button", { name: /^Choose the image/ });
  await user.press(choose);
  const image = sharp({ create: { width: 60, height: 60, channels: 3, background: "#6e5ffb" } });
  const dialog = page.getByRole("dialog", { name: "Choose an image" });
  const uploaded = page.waitForResponse((response) => response.request().method() === "POST" && response.status() === 201);
  await dialog
    .getByLabel("Upload an image")
    .setInputFiles({ name: "crest.png", mimeType: "image/png", buffer: await image.png().toBuffer() });
  await uploaded;
  release();
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByRole("textbox", { name: /^Image/ }).inputValue()).toMatch(/^\/media\/v1\/[0-9a-f]{24}$/);
  await user.press(choose);
  await dialog.getByRole("button", { name: /^crest\.png/ }).waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await user.press(dialog.getByRole("button", { name: /^crest\.png/ }));
  expect((await created(page)).contents).toMatchObject([{ kind: "kit", template: "goal" }]);
  expect(errors).toEqual([]);
});

test("a file that isn't an image is refused where it was chosen, and the dialog stays open", async () => {
  const { page } = await site.open(browser, "/overlays/new", admin);
  await page.getByRole("button", { name: /^Goal/ }).click();
  await page.getByRole("button", { name: /^Choose the image/ }).click();
  const dialog = page.getByRole("dialog", { name: "Choose an image" });
  await dialog
    .getByLabel("Upload an image")
    .setInputFiles({ name: `${SCRIPT}.png`, mimeType: "image/png", buffer: Buffer.from("no image") });
  await dialog.getByRole("alert").filter({ hasText: "Must be a PNG" }).waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
});

test("an overlay that exists is changed with the keyboard alone, and what isn't saved is taken back", async () => {
  const contents = [{ kind: "html", html: "<p>{{scorer}}</p>", position: "center", variables: { scorer: "Ruth" } }];
  const overlay = { siteId: site.id, name: "Full time", description: "", type: "template", duration: 5, contents };
  const id = await site.create("/overlay/v1", overlay);
  const { page, errors } = await site.open(browser, "/overlays", admin);
  const user = new KeyboardUser(page);
  await user.press(page.getByRole("link", { name: "Full time" }));
  await user.type(page.getByLabel("scorer"), `Marta ${SCRIPT}`);
  await user.press(page.getByRole("button", { name: "Save", exact: true }));
  await page.getByText("Saved.").waitFor();
  const read = async () => Overlay.parse(await site.call("GET", `/overlay/v1/${id}`)).contents;
  expect(await read()).toMatchObject([{ variables: { scorer: `Marta ${SCRIPT}` } }]);
  await user.type(page.getByLabel("scorer"), "Nobody");
  await user.press(page.getByRole("button", { name: "Discard changes" }));
  await expect.poll(() => page.getByLabel("scorer").inputValue()).toBe(`Marta ${SCRIPT}`);
  expect(await read()).toMatchObject([{ variables: { scorer: `Marta ${SCRIPT}` } }]);
  expect(errors).toEqual([]);
});
