// Draws every template of the overlay kit, with short and very long variables, at four sizes, light and dark. `node scripts/kit-pictures.ts <folder> [template…]`
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { KIT_TEMPLATES, type KitTemplateName, ShownKitElement } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { KIT } from "#worker/services/overlays/kit/catalogue.ts";
import { longVariables } from "#test/browser/sdk-kit-variables.ts";
import { KIT_FONT_FILES } from "#sdk/overlay/kit/fonts.ts";
import { launchBrowser } from "#test/browser/browser.ts";
import type { Picture } from "./kit-pictures/page.tsx";
import { ROOT } from "./lib/root.mjs";

const SIZES = [
  { width: 320, height: 180 },
  { width: 640, height: 360 },
  { width: 1280, height: 720 },
  { width: 1920, height: 1080 },
];
const ORIGIN = "http://kit.example";
/** A match as a camera shows it, roughly. */
const BACKDROP = `
  body { margin: 0; display: flex; flex-wrap: wrap; gap: 12px; width: 1960px; padding: 12px; background: #333; }
  .backdrop { position: relative; flex: none; overflow: hidden; background:
    radial-gradient(ellipse 22% 60% at 50% 66%, transparent 97%, #ffffff73 97.5% 99.5%, transparent 100%),
    linear-gradient(90deg, transparent 49.8%, #ffffff73 49.8% 50.2%, transparent 50.2%) 0 100% / 100% 66% no-repeat,
    linear-gradient(#ffffff8c, #ffffff8c) 0 34% / 100% 0.5% no-repeat,
    repeating-linear-gradient(90deg, #2f8a3e 0 8%, #277a35 8% 16%) 0 100% / 100% 66% no-repeat,
    linear-gradient(#20232d, #464b5c); }`;

const [folder = "pictures", ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1984, height: 1200 }, reducedMotion: "reduce" });
await openPage(page);
for (const name of KIT_TEMPLATES.filter((one) => names.length === 0 || names.includes(one))) {
  const [short, long] = [elementOf(name, KIT[name].sample), elementOf(name, longVariables(name))];
  const pictures = SIZES.slice(0, 3).flatMap((size) => [pictureOf(size, [short], "dark"), pictureOf(size, [long], "light")]);
  await draw(name, pictures);
  await draw(
    `${name}-1920`,
    SIZES.slice(3).flatMap((size) => [pictureOf(size, [short], "light"), pictureOf(size, [long], "dark")]),
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

async function openPage(target: Page): Promise<void> {
  const entryPoints = ["scripts/kit-pictures/page.tsx"];
  const define = { "process.env.NODE_ENV": '"production"', TIFO_SDK_VERSION: '"pictures"', TIFO_SCRIPT: "false" };
  const options = { absWorkingDir: ROOT, bundle: true, write: false, jsx: "automatic", target: "es2022" } as const;
  const [script, styles] = await Promise.all([
    build({ ...options, define, format: "iife", entryPoints }),
    build({ ...options, entryPoints: ["sdk/styles/tifo.css"] }),
  ]);
  await target.route(`${ORIGIN}/**`, (route) => {
    const file = KIT_FONT_FILES.find((one) => route.request().url().endsWith(one.file));
    if (!file) return route.fulfill({ contentType: "text/html", body: "<!doctype html><body></body>" });
    const path = `node_modules/@fontsource/barlow-condensed/files/barlow-condensed-${file.subset}-${file.weight}-normal.woff2`;
    return route.fulfill({ contentType: "font/woff2", body: readFileSync(join(ROOT, path)) });
  });
  await target.goto(`${ORIGIN}/`);
  await target.addStyleTag({ content: (styles.outputFiles[0]?.text ?? "") + BACKDROP });
  await target.addScriptTag({ content: script.outputFiles[0]?.text ?? "" });
}

function elementOf(template: KitTemplateName, variables: object): ShownKitElement {
  return ShownKitElement.parse({ kind: "kit", template, key: template, position: KIT[template].position, variables });
}

function pictureOf(size: { width: number; height: number }, elements: ShownKitElement[], look: Picture["look"]): Picture {
  const answers = ["Harbour City", "A draw", "Old Dock"].map((answer, index) => ({
    answerId: answer,
    answer,
    share: [0.61, 0.14, 0.25][index],
  }));
  const poll = {
    question: "Who wins the derby?",
    kind: "Prediction",
    open: true,
    total: 18_342,
    myAnswerId: "Harbour City",
    problem: "",
    answers,
  };
  return { ...size, look, elements, poll };
}

async function draw(name: string, pictures: Picture[]): Promise<void> {
  await page.evaluate((all) => window.draw(all), pictures);
  await page.evaluate(() => document.fonts.ready);
  await page.waitForFunction(
    (count) => document.querySelectorAll("[data-placed]").length >= count,
    pictures.flatMap(({ elements }) => elements).length,
  );
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
