import { existsSync, readFileSync } from "node:fs";
import { z } from "@hono/zod-openapi";

const RunRecord = z.object({
  date: z.string(),
  commit: z.string(),
  figures: z.array(z.object({ label: z.string(), value: z.string() })),
});

/** The last record that a run has left in a folder; undefined if there is none. */
export function readRecord(name: string, folder = "bench/records"): z.infer<typeof RunRecord> | undefined {
  const file = `${folder}/${name}.json`;
  return existsSync(file) ? RunRecord.parse(JSON.parse(readFileSync(file, "utf8"))) : undefined;
}
