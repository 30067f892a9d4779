import { once } from "node:events";
import { createServer } from "node:net";
import lighthouse from "lighthouse";
import { chromium } from "playwright-core";
import { z } from "@hono/zod-openapi";
import { build } from "#scripts/lib/build.ts";
import { requireChromium } from "#scripts/lib/chromium.ts";
import { Problem, say } from "#scripts/lib/report.mjs";
import { startServer } from "#scripts/lib/server.ts";
import { prepareState } from "#scripts/lib/state.ts";
import type { Result } from "./lib/report.ts";
import { newFolder } from "./lib/runtimes.ts";

/** One page of each kind. */
const PAGES = {
  home: "/",
  "an SDK page": "/sdk/web/core-sdk/configure",
  "a guide": "/guides/data-providers",
  "an operation": "/docs/api-reference/createPoll",
  "the explorer": "/api/rest",
};
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;
const GOAL = 100;
/** The explorer loads an application of a megabyte, though only on the first interaction. */
const EXPLORER_GOAL = 95;

/** S: scores of the site's pages with Lighthouse's mobile preset; the median of three runs. */
export async function siteScores(quick: boolean): Promise<Result> {
  await build();
  const state = newFolder();
  const server = await startServer({ port: 0, state, secrets: await prepareState(state) });
  const port = await freePort();
  const args = ["--no-sandbox", `--remote-debugging-port=${port}`];
  const browser = await chromium.launch({ executablePath: await requireChromium(), headless: true, args });
  try {
    const rows: string[][] = [];
    for (const [name, path] of Object.entries(PAGES)) {
      const runs: Scores[] = [];
      for (let run = 0; run < (quick ? 1 : 3); run++) runs.push(await score(server.url + path, port));
      rows.push(rowOf(name, path, runs));
      say(rows.at(-1)?.join("  ") ?? "");
    }
    return { columns: ["page", ...CATEGORIES, "LCP", "blocking time", "layout shift", "goal"], rows };
  } finally {
    await browser.close();
    await server.stop();
  }
}

interface Scores {
  categories: number[];
  /** `paint` and `blocking` in milliseconds; `shift` is unitless. */
  paint: number;
  blocking: number;
  shift: number;
}

async function score(url: string, port: number): Promise<Scores> {
  const result = await lighthouse(url, { port, logLevel: "error", onlyCategories: [...CATEGORIES] });
  if (!result) throw new Problem(`Lighthouse returned no result for ${url}.`);
  const { categories, audits } = result.lhr;
  const figure = (id: string): number => audits[id]?.numericValue ?? Number.NaN;
  return {
    categories: CATEGORIES.map((id) => Math.round((categories[id]?.score ?? 0) * 100)),
    paint: figure("largest-contentful-paint"),
    blocking: figure("total-blocking-time"),
    shift: figure("cumulative-layout-shift"),
  };
}

function rowOf(name: string, path: string, runs: Scores[]): string[] {
  const middle = (pick: (scores: Scores) => number): number =>
    runs.map(pick).sort((one, other) => one - other)[runs.length >> 1] ?? Number.NaN;
  const categories = CATEGORIES.map((_, index) => middle((scores) => scores.categories[index] ?? 0));
  const goal = path === "/api/rest" ? [EXPLORER_GOAL, 0, 0, 0] : CATEGORIES.map(() => GOAL);
  const reached = categories.every((value, index) => value >= (goal[index] ?? 0));
  return [
    `${name} (${path})`,
    ...categories.map(String),
    `${(middle(({ paint }) => paint) / 1000).toFixed(1)} s`,
    `${middle(({ blocking }) => blocking).toFixed(0)} ms`,
    middle(({ shift }) => shift).toFixed(3),
    reached ? "reached" : "missed",
  ];
}

/** A free port. The browser could choose one itself, but Lighthouse wouldn't know it. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await once(probe.listen(0, "127.0.0.1"), "listening");
  const { port } = z.object({ port: z.number() }).parse(probe.address());
  await new Promise((settle) => probe.close(settle));
  return port;
}
