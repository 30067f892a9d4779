import { z } from "@hono/zod-openapi";
import { build } from "#scripts/lib/build.ts";
import { runOrFail } from "#scripts/lib/command.ts";
import { startServer } from "#scripts/lib/server.ts";
import { prepareState } from "#scripts/lib/state.ts";
import type { Result } from "./lib/report.ts";
import { newFolder } from "./lib/runtimes.ts";
import { median, percentile } from "./lib/stats.ts";

const GOAL_MS = 250;

const Figures = z.object({ name: z.string(), expected: z.number(), delays: z.array(z.number()), early: z.number() });

/** V: in each player, the time between a picture of the match video and the overlay for it, by the time in the picture itself. */
export async function overlayTiming(quick: boolean): Promise<Result> {
  const seconds = quick ? 10 : 60;
  await build();
  const state = newFolder();
  const server = await startServer({ port: 0, state, secrets: await prepareState(state) });
  try {
    const output = await runOrFail("node", ["scripts/bench-players.ts", server.url, String(seconds)]);
    return {
      columns: ["player", "overlays", "median", "p95", "longest", "before their picture", "goal"],
      rows: z.array(Figures).parse(JSON.parse(output)).map(rowOf),
      remarks: ["from the picture's moment to the painted overlay, in steps of a picture (40 ms)"],
    };
  } finally {
    await server.stop();
  }
}

function rowOf({ name, expected, delays, early }: z.infer<typeof Figures>): string[] {
  const ms = (seconds: number) => `${Math.round(seconds * 1000)} ms`;
  const p95 = percentile(delays, 0.95);
  const reached = p95 * 1000 <= GOAL_MS && early === 0 && delays.length === expected;
  return [
    name,
    `${delays.length} of ${expected}`,
    ms(median(delays)),
    ms(p95),
    ms(Math.max(...delays)),
    String(early),
    `p95 ${GOAL_MS} ms, none before: ${reached ? "reached" : "missed"}`,
  ];
}
