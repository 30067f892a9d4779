import { chromium, type Browser } from "playwright-core";
import { requireChromium } from "#scripts/lib/chromium.ts";

/** A wait in vain ends a little before its test does, and says what it waited for. */
const PATIENCE_MS = 540_000;

/** Starts a headless Chromium of this machine. It needs no sandbox: it opens our own pages only. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await requireChromium();
  const browser = await chromium.launch({ executablePath, headless: true, args: ["--no-sandbox"], timeout: PATIENCE_MS });
  const newContext = browser.newContext.bind(browser);
  // Pages that are opened without a context of their own come from here too.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}
