import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ROOT } from "./root.mjs";

export interface Job {
  /** File that remembers the inputs of the last success. */
  stamp: string;
  /** Globs, from the project's folder, of all that the result depends on. */
  inputs: string[];
  /** Globs of files among the inputs that do not count. */
  except?: string[];
  /** A file or folder of the result: when it is gone the work is due again. */
  output: string;
  work: () => Promise<void>;
}

/** Does a job unless its inputs are those of its last success. */
export async function unlessFresh({ stamp, inputs, except = [], output, work }: Job): Promise<void> {
  const print = fingerprint(inputs, except);
  if (existsSync(resolve(ROOT, output)) && existsSync(stamp) && readFileSync(stamp, "utf8") === print) return;
  rmSync(stamp, { force: true });
  await work();
  await mkdir(dirname(stamp), { recursive: true });
  writeFileSync(stamp, print);
}

/** Hash of the names and contents of all files that match. */
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
