import { chromium, type Browser } from "playwright-core";
import { requireChromium } from "#scripts/lib/chromium.ts";

/** Slightly shorter than a test's own timeout, so that the error names what was awaited. */
const TIMEOUT_MS = 540_000;

// It needs no sandbox, because it opens only our own pages; and without a GPU, a process for it takes a sixth of the time of each page.
const ARGUMENTS = ["--no-sandbox", "--in-process-gpu"];

/** Starts this machine's Chromium, headless. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await requireChromium();
  const browser = await chromium.launch({ executablePath, headless: true, args: ARGUMENTS, timeout: TIMEOUT_MS });
  const newContext = browser.newContext.bind(browser);
  // Pages that are opened without a context also use this.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(TIMEOUT_MS);
    return context;
  };
  return browser;
}
