import { z } from "@hono/zod-openapi";
import { build } from "#scripts/lib/build.ts";
import { runOrFail } from "#scripts/lib/command.ts";
import { milliseconds, type Result } from "./lib/report.ts";
import { median, percentile } from "./lib/stats.ts";

const GOAL_MS = 500;
/** A frame at 60 per second. */
const FRAME_MS = 1000 / 60;

const Figures = z.object({ times: z.array(z.number()), median: z.number(), longest: z.number(), frames: z.number(), seconds: z.number() });

/** X: the time from an operator's press of Take in Studio to the overlay's frame at the last of 1,000 viewers, and how smooth Run stays. */
export async function studio(quick: boolean): Promise<Result> {
  await build();
  const [takes, rows, seconds] = quick ? [10, 100, 5] : [150, 5_000, 15];
  const output = await runOrFail("node", ["scripts/bench-studio.ts", String(takes), String(rows), String(seconds)]);
  const { times, longest, frames, ...figures } = Figures.parse(JSON.parse(output.trim().split("\n").at(-1) ?? ""));
  const p99 = percentile(times, 0.99);
  const perSecond = frames / figures.seconds;
  return {
    columns: ["", "median", "p99", "longest", "goal"],
    rows: [
      [
        "Take to the last of 1,000 viewers",
        milliseconds(median(times)),
        milliseconds(p99),
        milliseconds(Math.max(...times)),
        `p99 ${GOAL_MS} ms: ${p99 <= GOAL_MS ? "reached" : "missed"}`,
      ],
      [
        `Run with 50 messages a second, scrolling ${rows.toLocaleString("en")} takes: between frames`,
        milliseconds(figures.median),
        "",
        milliseconds(longest),
        `60 frames a second: ${figures.median <= FRAME_MS * 1.1 ? "reached" : "missed"} (${perSecond.toFixed(1)})`,
      ],
    ],
    remarks: [`${takes} takes by key, of a screen in Chromium; its server, the viewers and the browser share the machine`],
  };
}
