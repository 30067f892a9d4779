import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ROOT } from "./root.mjs";

export interface Job {
  /** File that stores the fingerprint of the last successful run's inputs. */
  stamp: string;
  /** Globs, relative to the project's folder, of everything that the result depends on. */
  inputs: string[];
  /** Globs of inputs to ignore. */
  except?: string[];
  /** A file or folder of the result. If it is missing, the work runs again. */
  output: string;
  work: () => Promise<void>;
}

/** Runs a job unless its inputs are the same as in its last successful run. */
export async function unlessFresh({ stamp, inputs, except = [], output, work }: Job): Promise<void> {
  const current = fingerprint(inputs, except);
  if (existsSync(resolve(ROOT, output)) && existsSync(stamp) && readFileSync(stamp, "utf8") === current) return;
  rmSync(stamp, { force: true });
  await work();
  await mkdir(dirname(stamp), { recursive: true });
  writeFileSync(stamp, current);
}

/** Hash of the names and contents of all matching files. */
export function fingerprint(inputs: string[], except: string[] = []): string {
  const hash = createHash("sha256");
  for (const path of globSync(inputs, { cwd: ROOT, exclude: except }).sort()) {
    const file = join(ROOT, path);
    if (!statSync(file).isFile()) continue;
    const content = readFileSync(file);
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}
