import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#scripts/lib/root.mjs";
import { describeMachine } from "./machine.ts";
import { clientShare, ratio, type Ratio, type Round, typical } from "./rounds.ts";

/** A benchmark's result: a Markdown table and remarks. */
export interface Result {
  columns: string[];
  rows: string[][];
  remarks?: string[];
}

export interface Goal {
  /** The ratio to reach, and the one below which the result counts as a failure. */
  goal: number;
  floor: number;
}

export interface Comparison {
  rounds: Round[];
  cells: string[];
  ours: string;
  others: string[];
  better: "higher" | "lower";
  figure: (value: number) => string;
  /** The goal against another contender, if there is one for the cell. */
  goals: (cell: string, other: string) => Goal | undefined;
}

/** One row per cell: each contender's median, then Tifo's ratio to each other contender with its range and verdict. */
export function comparisonTable({ rounds, cells, ours, others, better, figure, goals }: Comparison): Result {
  const rows = cells.map((cell) => [
    cell,
    ...[ours, ...others].map((name) => figure(typical(rounds, cell, name))),
    ...others.map((other) => ratioText(ratio(rounds, cell, ours, other, better), goals(cell, other))),
    percent(Math.max(...[ours, ...others].map((name) => clientShare(rounds, cell, name)))),
  ]);
  return { columns: ["", ours, ...others, ...others.map((other) => `against ${other}`), "client"], rows };
}

/** For many contenders, one row each: its medians, with Tifo's ratios to it, and a note. */
export function contenderTable({ notes, ...comparison }: Comparison & { notes: { title: string; of: (name: string) => string } }): Result {
  const { rounds, cells, ours, others, better, figure, goals } = comparison;
  const rows = [ours, ...others].map((name) => [
    name,
    ...cells.map((cell) => {
      const value = figure(typical(rounds, cell, name));
      return name === ours ? value : `${value}, ${ratioText(ratio(rounds, cell, ours, name, better), goals(cell, name))}`;
    }),
    percent(Math.max(...cells.map((cell) => clientShare(rounds, cell, name)))),
    notes.of(name),
  ]);
  return { columns: ["", ...cells, "client", notes.title], rows };
}

export function ratioText({ median, min, max, rounds, quiet, clientBound }: Ratio, goal: Goal | undefined): string {
  const marks = [clientBound ? "client-bound" : "", quiet ? "" : "noisy"].filter((mark) => mark !== "");
  const text = `**${median.toFixed(2)}** (${min.toFixed(2)}–${max.toFixed(2)}, n ${rounds}${marks.map((mark) => `, ${mark}`).join("")})`;
  return goal ? `${text} ${verdict(median, goal)}` : text;
}

/** Whether a ratio reaches its goal. */
export function verdict(value: number, { goal, floor }: Goal): string {
  if (value >= goal) return `goal ${goal} reached`;
  return value >= floor ? `floor ${floor} held, goal ${goal} missed` : `floor ${floor} missed`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

export function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} ms`;
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString("en")}/s`;
}

export function markdown({ columns, rows, remarks = [] }: Result): string {
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  const table = [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
  return [table, ...remarks.map((remark) => `- ${remark}`)].join("\n\n").replaceAll("\n\n- ", "\n- ").replace("\n- ", "\n\n- ");
}

const RESULTS = join(ROOT, "bench/RESULTS.md");

/** The texts before and after the figures of a section of RESULTS.md, with its markers. Throws if it has no such section. */
export function around(section: string): [before: string, after: string] {
  const [begin, end] = [`<!-- begin ${section} -->`, `<!-- end ${section} -->`];
  const [before, rest] = readFileSync(RESULTS, "utf8").split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`RESULTS.md has no section ${section}`);
  return [before + begin, end + after];
}

/** Replaces the figures of a section in RESULTS.md; the text around them is written by hand. */
export function record(section: string, text: string): void {
  writeFileSync(RESULTS, around(section).join(`\n\n${text}\n\n`));
}

/** The machine and the versions of the last run; each table names its own processor. */
export function environment(compatibility: string): string {
  const versions = ["workerd", "wrangler", "miniflare", "hono", "@hono/zod-openapi", "partyserver", "socket.io", "ws"];
  const lines = [
    `- Last run: ${new Date().toISOString().slice(0, 10)}, commit ${git("rev-parse", "--short", "HEAD")}`,
    `- ${describeMachine()}`,
    `- Node.js ${process.version}, ${versions.map((name) => `${name} ${versionOf(name)}`).join(", ")}`,
    `- ${compatibility}`,
  ];
  return lines.join("\n");
}

function versionOf(name: string): string {
  const text = readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8");
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? "unknown";
}

function git(...args: string[]): string {
  return execFileSync("git", args, { encoding: "utf8" }).trim();
}
