// `npm test`: builds whatever is out of date, runs every test, and ends with one line: N passed, N failed. Arguments
// after `--` are passed to vitest: `npm test -- overlays`, `npm test -- --project unit`. With `TIFO_RECORD=1`, a run of
// all tests that passes stores its figures for the site's page about quality.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { build } from "./lib/build.ts";
import { requireChromium } from "./lib/chromium.ts";
import { TOOL_ENV } from "./lib/command.ts";
import { withMemoryFolder } from "./lib/memory-folder.ts";
import { testFigures, writeRecord } from "./lib/records.ts";
import { guard, say } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { summarise } from "./lib/summary.ts";

const REPORT = join(ROOT, "test-results/vitest.json");

const Report = z.object({
  numPassedTests: z.number(),
  testResults: z.array(z.object({ name: z.string(), status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

let exitCode = 1;
const selection = process.argv.slice(2);
rmSync(REPORT, { force: true });
await guard(async () => {
  await build();
  // Selected tests may not need a browser.
  if (selection.length === 0) await requireChromium();
  exitCode = await vitest(selection);
});
const report = readReport();
const { passed, failed } = summarise(report, exitCode);
if (process.env["TIFO_RECORD"] === "1" && selection.length === 0 && failed === 0 && report) {
  writeRecord("tests", testFigures(report.testResults), "all");
}
process.exitCode = failed === 0 ? 0 : 1;
say(`${passed} passed, ${failed} failed`);
// The IPC channel to the parent process would keep this one alive.
if (process.connected) process.disconnect();

async function vitest(args: string[]): Promise<number> {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`];
  return await withMemoryFolder(async (memory) => {
    const env = { ...process.env, ...TOOL_ENV, ...memory };
    const child = spawn("vitest", ["run", ...reporters, ...args], { cwd: ROOT, env, stdio: "inherit" });
    const stop = (): boolean => child.kill();
    for (const event of ["SIGINT", "SIGTERM", "disconnect"]) process.on(event, stop);
    await once(child, "exit");
    return child.exitCode ?? 1;
  });
}

function readReport(): z.infer<typeof Report> | undefined {
  if (!existsSync(REPORT)) return undefined;
  return Report.parse(JSON.parse(readFileSync(REPORT, "utf8")));
}
