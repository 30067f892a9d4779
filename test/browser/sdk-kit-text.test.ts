import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ARABIC_POLL } from "#docs/src/components/overlay-gallery/arabic.ts";
import { drawPictures, elementOf, openKitPage, pictureOf } from "#scripts/kit-pictures/open.ts";
import { KIT_TEMPLATES, type KitTemplateName } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { launchBrowser } from "./browser.ts";
import { arabicVariables, vietnameseVariables } from "./sdk-kit-variables.ts";

const SIZES = [
  { width: 1280, height: 720 },
  { width: 640, height: 360 },
  { width: 320, height: 180 },
];
const SCRIPTS = { Arabic: arabicVariables, Vietnamese: vietnameseVariables };
const ARABIC = { ...ARABIC_POLL, answers: ARABIC_POLL.answers.map((answer, index) => ({ answerId: `${index}`, answer, share: 0.3 })) };
const VIETNAMESE = { question: "Ệ Nguyễn Ặn Ũjpy?", answers: [{ answerId: "1", answer: "Đỗ Thị Ngọc Ẩn, Quỳnh", share: 0.4 }] };

/** Only texts are drawn, because the edges of boxes are smoothed differently with and without clipping. */
const ONLY_TEXTS =
  ".tk, .tk * { background: none !important; box-shadow: none !important; border-color: #0000 !important } .tk ::before, .tk ::after { display: none !important }";
/** Of three channels together: a pixel of text differs from the grass by at least 300. */
const CLEAR = 180;

let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 1984, height: 1200 }, reducedMotion: "reduce" });
  await openKitPage(page);
});

afterAll(() => browser.close());

/** Draws a template's sample in a script at every size. */
async function drawIn(script: keyof typeof SCRIPTS, name: KitTemplateName): Promise<void> {
  const element = elementOf(name, SCRIPTS[script](name));
  const poll = script === "Arabic" ? ARABIC : VIETNAMESE;
  await drawPictures(
    page,
    SIZES.map((size) => pictureOf(size, [element], "dark", poll)),
  );
}

async function screenshots(): Promise<Buffer[]> {
  const stages = await page.locator(".backdrop").all();
  return Promise.all(stages.map((stage) => stage.screenshot()));
}

/** Pixels that clearly differ, not only in how their edges are smoothed. */
async function differentPixels(one: Buffer | undefined, other: Buffer | undefined): Promise<number> {
  const [before, after] = await Promise.all([one, other].map((image) => sharp(image).removeAlpha().raw().toBuffer()));
  if (before?.length !== after?.length) throw new Error("The pictures differ in size");
  let count = 0;
  for (let at = 0; at < (before?.length ?? 0); at += 3) {
    const channels = [at, at + 1, at + 2].map((channel) => Math.abs((before?.[channel] ?? 0) - (after?.[channel] ?? 0)));
    if (channels.reduce((sum, channel) => sum + channel) > CLEAR) count++;
  }
  return count;
}

/** Runs in the page: what was cut at a line's top or bottom is drawn, unless it can be scrolled to. Long texts still end at their box, in an ellipsis. */
function uncut(): void {
  for (const element of document.querySelectorAll<HTMLElement>(".tk :not(svg)")) {
    const { overflowX, overflowY } = getComputedStyle(element);
    if (overflowY === "hidden" || overflowY === "clip") element.style.overflow = overflowX === "visible" ? "visible" : "clip visible";
  }
}

describe.each(KIT_TEMPLATES)("the template %s", (name) => {
  test.each(["Arabic", "Vietnamese"] as const)("shows letters in %s whole, with everything above and below them", async (script) => {
    await drawIn(script, name);
    const onlyTexts = await page.addStyleTag({ content: ONLY_TEXTS });
    const shown = await screenshots();
    await page.evaluate(uncut);
    const whole = await screenshots();
    await onlyTexts.evaluate((style) => style.parentNode?.removeChild(style));
    for (const [index, { width }] of SIZES.entries())
      expect(await differentPixels(shown[index], whole[index]), `pixels that were cut at ${width} px`).toBe(0);
  });

  test("stands still for viewers who want that", async () => {
    await drawIn("Arabic", name);
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  });

  test("doesn't pull joined letters apart", async () => {
    await drawIn("Arabic", name);
    const apart = await page.evaluate(() =>
      [...document.querySelectorAll(".tk *")]
        .filter((element) =>
          [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && /[؀-ۿ]/.test(node.textContent ?? "")),
        )
        .filter((element) => getComputedStyle(element).letterSpacing !== "normal")
        .map((element) => element.className),
    );
    expect(apart).toEqual([]);
  });
});
