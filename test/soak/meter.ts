import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

interface Reading {
  steps: number;
  /** Of all processes of a server, at the end of its life. */
  memory: number;
  /** Of databases, objects and files. */
  stored: number;
}

/** How the second half of a run compares with the first. */
export interface Levels {
  /** Medians of memory at the end of a life: above 1, it grows. */
  memoryGrowth: number;
  /** Bytes stored per step: above 1, each step costs more than before. */
  storageGrowth: number;
  megabytes: { memory: number; stored: number };
}

/** Reads how much memory and storage a server uses. */
export class Meter {
  readonly readings: Reading[] = [];
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(group: number, steps: number): void {
    this.readings.push({ steps, memory: groupMemory(group), stored: folderSize(this.#folder) });
  }
}

export function levelsOf(readings: Reading[]): Levels {
  const half = Math.ceil(readings.length / 2);
  const [first, second] = [readings.slice(0, half), readings.slice(half)];
  const [start, middle, end] = [readings[0], readings[half - 1], readings.at(-1)];
  const memory = (of: Reading[]): number => median(of.map((reading) => reading.memory));
  const perStep = (from?: Reading, to?: Reading): number =>
    ((to?.stored ?? 0) - (from?.stored ?? 0)) / ((to?.steps ?? 0) - (from?.steps ?? 0));
  const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
  return {
    memoryGrowth: ratio(memory(second), memory(first)),
    storageGrowth: ratio(perStep(middle, end), perStep(start, middle)),
    megabytes: { memory: megabytes(memory(readings)), stored: megabytes(end?.stored ?? 0) },
  };
}

function ratio(one: number, other: number): number {
  return Number((one / other).toFixed(2));
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** The resident memory of a process group. */
function groupMemory(group: number): number {
  let bytes = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const afterName = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      if (Number(afterName[2]) === group)
        bytes += Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
    } catch {
      // The process has ended meanwhile.
    }
  }
  return bytes;
}

function folderSize(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    // A file may disappear meanwhile.
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
