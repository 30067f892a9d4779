// Draws every template of the overlay kit at four sizes, light and dark: with short and very long variables, in Arabic and in Vietnamese.
// `node scripts/kit-pictures.ts <folder> [template…]`
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ARABIC_POLL } from "#docs/src/components/overlay-gallery/arabic.ts";
import { KIT_TEMPLATES } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { KIT } from "#worker/services/overlays/kit/catalogue.ts";
import { arabicVariables, longVariables, vietnameseVariables } from "#test/browser/sdk-kit-variables.ts";
import { launchBrowser } from "#test/browser/browser.ts";
import type { Picture } from "./kit-pictures/page.tsx";
import { drawPictures, elementOf, openKitPage, pictureOf } from "./kit-pictures/open.ts";

const SIZES = [
  { width: 320, height: 180 },
  { width: 640, height: 360 },
  { width: 1280, height: 720 },
  { width: 1920, height: 1080 },
];

const [folder = "pictures", ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1984, height: 1200 }, reducedMotion: "reduce" });
await openKitPage(page);
for (const name of KIT_TEMPLATES.filter((one) => names.length === 0 || names.includes(one))) {
  const [short, long] = [elementOf(name, KIT[name].sample), elementOf(name, longVariables(name))];
  const pictures = SIZES.slice(0, 3).flatMap((size) => [pictureOf(size, [short], "dark"), pictureOf(size, [long], "light")]);
  await draw(name, pictures);
  await draw(
    `${name}-1920`,
    SIZES.slice(3).flatMap((size) => [pictureOf(size, [short], "light"), pictureOf(size, [long], "dark")]),
  );
  const poll = { ...ARABIC_POLL, answers: ARABIC_POLL.answers.map((answer, index) => ({ answerId: `${index + 1}`, answer, share: 0.3 })) };
  const [arabic, vietnamese] = [elementOf(name, arabicVariables(name)), elementOf(name, vietnameseVariables(name))];
  await draw(
    `${name}-scripts`,
    SIZES.slice(0, 3).flatMap((size) => [pictureOf(size, [arabic], "dark", poll), pictureOf(size, [vietnamese], "light")]),
  );
}
if (names.length === 0) {
  const four = (["scorebug", "goal", "poll", "sponsor"] as const).map((name) => elementOf(name, KIT[name].sample));
  const fourLong = (["lower-third", "chat-message", "scorebug", "substitution"] as const).map((name) =>
    elementOf(name, longVariables(name)),
  );
  for (const [index, elements] of [four, fourLong].entries())
    await draw(
      `together-${index + 1}`,
      SIZES.map((size) => pictureOf(size, elements, "dark")),
    );
}
await browser.close();

async function draw(name: string, pictures: Picture[]): Promise<void> {
  await drawPictures(page, pictures);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
