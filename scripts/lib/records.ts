import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./root.mjs";

/** One figure of a run, as the site's page about quality shows it. */
export interface Figure {
  label: string;
  value: string;
}

interface TestedFile {
  name: string;
  assertionResults: { status: string }[];
}

/** Stores the figures of a run as its last record, with the date and the commit. */
export function writeRecord(name: string, figures: readonly Figure[]): void {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
  const file = join(ROOT, "bench/records", `${name}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ date: new Date().toISOString().slice(0, 10), commit, figures }, null, 2)}\n`);
}

/** Figures of a run of all tests that has passed. */
export function testFigures(files: readonly TestedFile[]): Figure[] {
  const passedIn = (belongs: (file: string) => boolean): string =>
    files
      .filter(({ name }) => belongs(relative(ROOT, name)))
      .reduce((sum, { assertionResults }) => sum + assertionResults.filter(({ status }) => status === "passed").length, 0)
      .toLocaleString("en-GB");
  return [
    { label: "Tests, all passed", value: passedIn(() => true) },
    {
      label: "Of these in a browser or against a running server",
      value: passedIn((file) => file.startsWith("test/browser/")),
    },
    { label: "Of these runs, type-checks and parses of the samples", value: passedIn((file) => file.startsWith("test/browser/samples")) },
    { label: "Of these in files with properties of random inputs", value: passedIn(hasProperties) },
  ];
}

function hasProperties(file: string): boolean {
  return readFileSync(join(ROOT, file), "utf8").includes('from "fast-check"');
}
