import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

/** Many times what a run of all tests stores at once, which is about 100 MB. */
const NEEDED_BYTES = 1e9;

interface FolderOptions {
  parent?: string;
  neededBytes?: number;
}

/**
 * A new folder in memory for what tests store, where no commit waits for a disk; that takes a third of their time otherwise. Undefined if
 * the system has none, has little memory, or runs no programs from there, as tests do.
 */
export function createMemoryFolder({ parent = "/dev/shm", neededBytes = NEEDED_BYTES }: FolderOptions = {}): string | undefined {
  if (!isWritable(parent)) return undefined;
  const { bavail, bsize } = statfsSync(parent);
  // What is stored there is taken from the memory that the tests themselves need.
  if (bavail * bsize < neededBytes || freemem() < 4 * neededBytes) return undefined;
  const folder = mkdtempSync(join(parent, "tifo-"));
  if (runsPrograms(folder)) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

/**
 * Runs programs whose temporary files are in memory, if the system has such a folder, and removes these files.
 * @param work gets the variables to run them with
 */
export async function withMemoryFolder<T>(work: (env: Record<string, string>) => Promise<T>, options: FolderOptions = {}): Promise<T> {
  const folder = createMemoryFolder(options);
  try {
    return await work(folder === undefined ? {} : { TMPDIR: folder });
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
