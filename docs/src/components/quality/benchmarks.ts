import { inline } from "../operation/inline.ts";

/** One benchmark of bench/RESULTS.md. */
export interface Benchmark {
  /** Its letter, as `npm run bench` takes it. */
  id: string;
  title: string;
  /** HTML. */
  description: string;
  /** HTML cells; none if the last run has no result. */
  header: string[];
  rows: string[][];
  /** The day of the run, as in 2026-11-24; undefined if there is no result. */
  day: string | undefined;
}

export interface Results {
  /** The machine and the versions of the last run, as HTML. */
  environment: string[];
  benchmarks: Benchmark[];
}

const SECTION = /^## ([A-Z]): (.+)$/;

/** Reads what `npm run bench` has written. Throws for a file without results. */
export function readResults(markdown: string): Results {
  const sections = markdown.split(/\n(?=## )/);
  const benchmarks = sections.flatMap((section) => {
    const [, id, title] = SECTION.exec(section.split("\n")[0] ?? "") ?? [];
    return id !== undefined && title !== undefined ? [readSection(id, title, section)] : [];
  });
  const environment = between(markdown, "environment").filter((line) => line.startsWith("- "));
  if (benchmarks.length === 0 || environment.length === 0) throw new Error("bench/RESULTS.md has no results");
  return { environment: environment.map((line) => formatted(line.slice(2))), benchmarks };
}

function readSection(id: string, title: string, section: string): Benchmark {
  const lines = section.split("\n");
  const description = lines.slice(1).find((line) => /^[\w`]/.test(line)) ?? "";
  const inside = between(section, id);
  const day = inside.flatMap((line) => /^- (\d{4}-\d{2}-\d{2}), \d+ s,/.exec(line)?.[1] ?? []).at(-1);
  const [header = [], ...rows] = inside.filter((line) => line.startsWith("|") && !/^\|[ |:-]+\|$/.test(line)).map(cellsOf);
  return { id, title: formatted(title), description: formatted(description), header, rows, day };
}

/** The lines between a section's own marks. */
function between(markdown: string, name: string): string[] {
  const [, inside = ""] = markdown.split(`<!-- begin ${name} -->`);
  return (inside.split(`<!-- end ${name} -->`)[0] ?? "").split("\n").map((line) => line.trim());
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split("|")
    .map((cell) => formatted(cell.trim()));
}

/** HTML of a line; links become their text. */
function formatted(markdown: string): string {
  return inline(markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1"))
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/(?<!\w)_([^_]+)_(?!\w)/g, "<em>$1</em>");
}
