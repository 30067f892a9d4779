// Draws the guide's pictures of Studio from the real thing, and lists beside each what it consists of: npm run pictures:studio. Studio has to be built.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { launchBrowser } from "#test/browser/browser.ts";
import { startServer } from "#test/browser/server.ts";
import { contentOf, createShow, openPicture, PICTURES, PICTURES_FOLDER } from "#test/browser/studio-pictured.ts";
import { guard, say } from "./lib/report.mjs";

const QUALITY = 72;
/** For what comes in after the screen is there, such as the drawing of a preview. */
const SETTLE_MS = 1500;

await guard(async () => {
  const server = await startServer();
  const browser = await launchBrowser();
  try {
    const show = await createShow(server.url);
    rmSync(PICTURES_FOLDER, { recursive: true, force: true });
    mkdirSync(PICTURES_FOLDER, { recursive: true });
    for (const picture of PICTURES) {
      const { page } = await openPicture(browser, show, picture);
      await page.waitForTimeout(SETTLE_MS);
      const file = join(PICTURES_FOLDER, `${picture.name}.webp`);
      const { size } = await sharp(await page.screenshot())
        .webp({ quality: QUALITY, effort: 6 })
        .toFile(file);
      writeFileSync(join(PICTURES_FOLDER, `${picture.name}.json`), `${JSON.stringify(await contentOf(page), null, 2)}\n`);
      say(`${picture.name}: ${String(Math.round(size / 1000))} kB`);
      await page.context().close();
    }
  } finally {
    await browser.close();
    await server.stop();
  }
});
