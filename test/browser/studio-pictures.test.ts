import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { ROOT } from "#scripts/lib/root.mjs";
import { launchBrowser } from "./browser.ts";
import { contentOf, createShow, openPicture, PICTURES, PICTURES_FOLDER, type Show } from "./studio-pictured.ts";
import { url } from "./test-server.ts";

const MAX_BYTES = 60_000;
const guide = readFileSync(join(ROOT, "docs/src/content/docs/guides/studio.md"), "utf8");

let browser: Browser;
let show: Show;

beforeAll(async () => {
  browser = await launchBrowser();
  show = await createShow(url);
});

afterAll(() => browser.close());

describe.for(PICTURES.map((picture) => [picture.name, picture] as const))("the guide's picture of Studio: %s", ([name, picture]) => {
  // If this fails, `npm run pictures:studio` draws the pictures again. Look at them.
  test("shows what its screen consists of today", async () => {
    const { page, errors } = await openPicture(browser, show, picture);
    const stored = z.array(z.string()).parse(JSON.parse(readFileSync(join(PICTURES_FOLDER, `${name}.json`), "utf8")));
    await expect.poll(() => contentOf(page)).toEqual(stored);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test("is small, as large as the guide says, and described there", async () => {
    const file = join(PICTURES_FOLDER, `${name}.webp`);
    expect(statSync(file).size).toBeLessThan(MAX_BYTES);
    const { width, height } = await sharp(file).metadata();
    const image = new RegExp(`<img\\s+src="/studio-pictures/${name}\\.webp"[^>]*>`).exec(guide)?.[0] ?? "";
    expect(image).toContain(`width="${String(width)}" height="${String(height)}"`);
    expect(image).toMatch(/alt="[^"]{20,}"/);
  });
});
