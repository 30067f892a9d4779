import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "./lib/root.mjs";

/** Runs the check with a stub in place of npm. */
function check(npm: string): { status: number | null; lastLine: string | undefined } {
  const folder = mkdtempSync(join(tmpdir(), "tifo-ci-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const stub = join(folder, "npm");
  writeFileSync(stub, `#!/bin/sh\n${npm}\n`);
  chmodSync(stub, 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const { status, stdout } = spawnSync(join(ROOT, ".ci/run"), { encoding: "utf8", env });
  return { status, lastLine: stdout.trimEnd().split("\n").at(-1) };
}

test.for<[what: string, npm: string, status: number, lastLine: string]>([
  ["passes if the tests pass", "echo 12 passed, 0 failed", 0, "12 passed, 0 failed"],
  ["fails if a test fails", "echo 11 passed, 1 failed; exit 1", 1, "11 passed, 1 failed"],
  ["fails if the test run dies before its summary", "echo installing; kill -9 $$", 1, "0 passed, 1 failed"],
  ["fails if there is no summary", "exit 0", 1, "0 passed, 1 failed"],
])("the check %s", ([, npm, status, lastLine]) => {
  expect(check(npm)).toEqual({ status, lastLine });
});
