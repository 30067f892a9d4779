import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { readOptions } from "./options.ts";
import { Problem } from "./report.mjs";
import { ROOT } from "./root.mjs";

function runScript(script: string, option: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ["--no-warnings", script, option], { cwd: ROOT, encoding: "utf8" });
}

test("options that a script knows are read, others are problems with the usage", () => {
  const options = { speed: { type: "string", default: "30" }, quick: { type: "boolean", default: false } } as const;
  const read = (...args: string[]) => readOptions("Usage: try", { options, args });
  expect(read().values).toEqual({ speed: "30", quick: false });
  expect(read("--speed", "60", "--quick").values).toEqual({ speed: "60", quick: true });
  for (const wrong of ["--quik", "-q", "fast", "--speed", "--quick=1"]) {
    expect(() => read(wrong), wrong).toThrow(Problem);
    expect(() => read(wrong), wrong).toThrow("Usage: try");
  }
});

// A deployment that was only to be tried must not happen.
test.each(["start", "deploy", "demo-match", "simulate"])("%s does nothing with an option that it doesn't know, and has a usage", (name) => {
  const script = `scripts/${name}.ts`;
  const wrong = runScript(script, "--dryrun");
  expect(wrong.status).toBe(1);
  expect(wrong.stdout).toBe("");
  expect(wrong.stderr).toMatch(/^\nUnknown option '--dryrun'.*\n\nUsage: npm /);
  expect(wrong.stderr).not.toContain("    at ");

  const help = runScript(script, "--help");
  expect(help.status).toBe(0);
  expect(help.stdout).toMatch(/^Usage: npm /);
  expect(help.stderr).toBe("");
});
