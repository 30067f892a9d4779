import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { type KitTemplateName, ShownKitElement } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { KIT } from "#worker/services/overlays/kit/catalogue.ts";
import { KIT_FONT_FILES } from "#sdk/overlay/kit/fonts.ts";
import { ROOT } from "../lib/root.mjs";
import type { Picture } from "./page.tsx";

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

const POLL: Picture["poll"] = {
  ...{ question: "Who wins the derby?", kind: "Prediction", open: true, total: 18_342, myAnswerId: "1", problem: "" },
  answers: [
    { answerId: "1", answer: "Harbour City", share: 0.61 },
    { answerId: "2", answer: "A draw", share: 0.14 },
    { answerId: "3", answer: "Old Dock", share: 0.25 },
  ],
};

/** Opens the page on which templates are drawn, with the kit's own typeface. It needs no server. */
export async function openKitPage(page: Page): Promise<void> {
  const entryPoints = ["scripts/kit-pictures/page.tsx"];
  const define = { "process.env.NODE_ENV": '"production"', TIFO_SDK_VERSION: '"pictures"', TIFO_SCRIPT: "false" };
  const options = { absWorkingDir: ROOT, bundle: true, write: false, jsx: "automatic", target: "es2022" } as const;
  const [script, styles] = await Promise.all([
    build({ ...options, define, format: "iife", entryPoints }),
    build({ ...options, entryPoints: ["sdk/styles/tifo.css"] }),
  ]);
  await page.route(`${ORIGIN}/**`, (route) => {
    const file = KIT_FONT_FILES.find((one) => route.request().url().endsWith(one.file));
    if (!file) return route.fulfill({ contentType: "text/html", body: "<!doctype html><body></body>" });
    const path = `node_modules/@fontsource/barlow-condensed/files/barlow-condensed-${file.subset}-${file.weight}-normal.woff2`;
    return route.fulfill({ contentType: "font/woff2", body: readFileSync(join(ROOT, path)) });
  });
  await page.goto(`${ORIGIN}/`);
  await page.addStyleTag({ content: (styles.outputFiles[0]?.text ?? "") + BACKDROP });
  await page.addScriptTag({ content: script.outputFiles[0]?.text ?? "" });
}

/** Draws stages below each other, and waits until everything has its place and its typeface. */
export async function drawPictures(page: Page, pictures: Picture[]): Promise<void> {
  await page.evaluate((all) => window.draw(all), pictures);
  await page.evaluate(() => document.fonts.ready);
  await page.waitForFunction(
    (count) => document.querySelectorAll("[data-placed]").length >= count,
    pictures.flatMap(({ elements }) => elements).length,
  );
}

export function elementOf(template: KitTemplateName, variables: object): ShownKitElement {
  return ShownKitElement.parse({ kind: "kit", template, key: template, position: KIT[template].position, variables });
}

export function pictureOf(
  size: { width: number; height: number },
  elements: ShownKitElement[],
  look: Picture["look"],
  poll: Partial<Picture["poll"]> = {},
): Picture {
  return { ...size, look, elements, poll: { ...POLL, ...poll } };
}
