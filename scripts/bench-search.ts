// Part of `npm run bench`: asks the search box of the site, and prints the milliseconds to the results as JSON. A separate script, because
// part of it runs in the page. `node scripts/bench-search.ts <deployment> [quick]`
import type { Page } from "playwright-core";
import { MORE_QUESTIONS } from "#docs/src/components/search/more-questions.ts";
import { launchBrowser } from "#test/browser/browser.ts";
import { say } from "./lib/report.mjs";

const VISITS = 10;

const origin = process.argv[2] ?? "";
const isQuick = process.argv[3] === "quick";
const questions = Object.values(MORE_QUESTIONS)
  .flat()
  .map(([question]) => question)
  .filter((_, at) => !isQuick || at % 20 === 0);

const browser = await launchBrowser();
const page = await browser.newPage();
const first: number[] = [];
for (let visit = 0; visit < (isQuick ? 2 : VISITS); visit++) {
  await page.goto(`${origin}/start`, { waitUntil: "networkidle" });
  first.push(await timeToHit(page, "overlay"));
}
const warm: number[] = [];
for (const question of questions) warm.push(await timeToHit(page, question));
say(JSON.stringify({ first, warm }));
await browser.close();

/** Milliseconds from the input to the frame that shows its results. */
async function timeToHit(on: Page, question: string): Promise<number> {
  return on.evaluate(
    (text) =>
      new Promise<number>((resolve) => {
        const box = document.querySelector("tifo-search");
        const input = box?.querySelector("input");
        // Says how many results there are, also when there are none.
        const count = box?.querySelector(".count");
        if (!input || !count) throw new Error("The page has no search box.");
        input.focus();
        count.textContent = "";
        const started = performance.now();
        const observer = new MutationObserver(() => {
          if (count.textContent === "") return;
          observer.disconnect();
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)));
        });
        observer.observe(count, { childList: true });
        input.value = text;
        input.dispatchEvent(new Event("input", { bubbles: true }));
      }),
    question,
  );
}
