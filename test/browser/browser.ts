import { chromium, type Browser } from "playwright-core";
import { requireChromium } from "../../scripts/lib/chromium.ts";

/** Starts a headless Chromium of this machine. It needs no sandbox: it opens our own pages only. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: await requireChromium(), headless: true, args: ["--no-sandbox"] });
}
