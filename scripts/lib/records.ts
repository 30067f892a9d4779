import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readRecord, type RecordedFigure } from "#docs/src/components/quality/records.ts";
import { ROOT } from "./root.mjs";

/** One figure of a run, as the site's page about quality shows it. */
export type Figure = Pick<RecordedFigure, "label" | "value">;

interface TestedFile {
  name: string;
  assertionResults: { status: string }[];
}

const FOLDER = join(ROOT, "bench/records");

/**
 * Stores the figures of a run, each with the date and the commit.
 * @param extent after a run of `some` of what the record is about, it keeps the other figures
 */
export function writeRecord(name: string, figures: readonly Figure[], extent: "all" | "some", folder = FOLDER): void {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const labels = new Set(figures.map(({ label }) => label));
  const kept = extent === "all" ? [] : readRecord(name, folder).filter(({ label }) => !labels.has(label));
  const record = [...kept, ...figures.map(({ label, value }) => ({ label, value, date, commit }))];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`);
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
