import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { z } from "@hono/zod-openapi";
import { build } from "#scripts/lib/build.ts";
import { runOrFail } from "#scripts/lib/command.ts";
import { ROOT } from "#scripts/lib/root.mjs";
import { startServer } from "#scripts/lib/server.ts";
import { prepareState } from "#scripts/lib/state.ts";
import { milliseconds, type Result } from "./lib/report.ts";
import { newFolder } from "./lib/runtimes.ts";
import { median, percentile } from "./lib/stats.ts";

const GOAL_MS = 150;
const GOAL_BYTES = 120_000;
const SITE_FILE = /^search-index-[\da-f]{8}\.json$/;
const SECTION_FILE = /^search-index-.+-[\da-f]{8}\.json$/;

/** Milliseconds: of the first question on a page, and of all later ones. */
const Times = z.object({ first: z.array(z.number()), warm: z.array(z.number()) });

/** Y: the search box of the site. The time from a question in the box to its first result, and the size of the index. */
export async function siteSearch(quick: boolean): Promise<Result> {
  await build();
  const state = newFolder();
  const server = await startServer({ port: 0, state, secrets: await prepareState(state) });
  try {
    const output = await runOrFail("node", ["scripts/bench-search.ts", server.url, quick ? "quick" : ""]);
    const { first, warm } = Times.parse(JSON.parse(output));
    const sizes = gzipped();
    return {
      columns: ["", "figure", "goal"],
      rows: [
        ["first question on a page, with loading the index, median", milliseconds(median(first)), ""],
        ["later questions, median", milliseconds(median(warm)), goal(median(warm), GOAL_MS, "ms")],
        ["later questions, 99th percentile", milliseconds(percentile(warm, 0.99)), goal(percentile(warm, 0.99), GOAL_MS, "ms")],
        ["index of the site, gzip", kilobytes(sizes.site), goal(sizes.site / 1000, GOAL_BYTES / 1000, "kB")],
        ["largest index of a section, gzip", kilobytes(sizes.section), goal(sizes.section / 1000, GOAL_BYTES / 1000, "kB")],
      ],
      remarks: [`${warm.length} questions of the tests, in headless Chromium; a result counts when it is in the document and painted`],
    };
  } finally {
    await server.stop();
  }
}

function gzipped(): { site: number; section: number } {
  const folder = join(ROOT, "docs/dist");
  const largest = (pattern: RegExp): number =>
    Math.max(
      ...readdirSync(folder)
        .filter((name) => pattern.test(name))
        .map((name) => gzipSync(readFileSync(join(folder, name))).length),
    );
  return { site: largest(SITE_FILE), section: largest(SECTION_FILE) };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

function goal(value: number, most: number, unit: string): string {
  return `at most ${most} ${unit}: ${value <= most ? "reached" : "missed"}`;
}
