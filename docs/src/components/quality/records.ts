import { existsSync, readFileSync } from "node:fs";
import { z } from "@hono/zod-openapi";

const RunRecord = z.array(z.object({ label: z.string(), value: z.string(), date: z.string(), commit: z.string() }));

/** A figure with the day of its run, as in 2026-11-24, and the commit. */
export type RecordedFigure = z.infer<typeof RunRecord>[number];

/** The figures that runs have left in a folder; none if there is no record. */
export function readRecord(name: string, folder = "bench/records"): RecordedFigure[] {
  const file = `${folder}/${name}.json`;
  return existsSync(file) ? RunRecord.parse(JSON.parse(readFileSync(file, "utf8"))) : [];
}
