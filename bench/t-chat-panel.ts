import { z } from "@hono/zod-openapi";
import { build } from "#scripts/lib/build.ts";
import { runOrFail } from "#scripts/lib/command.ts";
import type { Result } from "./lib/report.ts";

const GOAL_MS = 100;

const Figures = z.object({
  name: z.string(),
  longTasks: z.array(z.number()),
  frames: z.number(),
  pause: z.number(),
  heap: z.tuple([z.number(), z.number()]),
  nodes: z.number(),
});

/** T: the chat panel in Chromium on a throttled CPU, with a busy room. */
export async function chatPanel(quick: boolean): Promise<Result> {
  const seconds = quick ? 10 : 60;
  await build();
  const output = await runOrFail("node", ["scripts/bench-chat-panel.ts", String(seconds)]);
  const figures = z.array(Figures).parse(JSON.parse(output));
  return {
    columns: ["", "tasks over 50 ms", `over ${GOAL_MS} ms`, "longest", "frames/s", "longest pause", "heap", "DOM nodes", "goal"],
    rows: figures.map((viewer) => rowOf(viewer, seconds)),
    remarks: [`for ${seconds} s each, after 15 s of warm-up`],
  };
}

function rowOf({ name, longTasks, frames, pause, heap, nodes }: z.infer<typeof Figures>, seconds: number): string[] {
  const over = longTasks.filter((duration) => duration > GOAL_MS).length;
  const [before, after] = heap.map((bytes) => (bytes / 1_000_000).toFixed(1));
  return [
    name,
    String(longTasks.length),
    String(over),
    longTasks.length === 0 ? "–" : `${Math.max(...longTasks).toFixed(0)} ms`,
    (frames / seconds).toFixed(1),
    `${pause.toFixed(0)} ms`,
    `${before} → ${after} MB`,
    String(nodes),
    over === 0 ? "reached" : "missed",
  ];
}
