import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { unlessFresh } from "./fresh.ts";
import { ROOT } from "./root.mjs";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tifo-fresh-"));
  write("input.txt", "one");
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function glob(pattern: string): string {
  return join(relative(ROOT, folder), pattern);
}

function job(work: () => Promise<void>): Promise<void> {
  return unlessFresh({
    stamp: join(folder, "stamp"),
    inputs: [glob("*.txt")],
    except: [glob("ignored.txt")],
    output: join(folder, "output"),
    work,
  });
}

it("runs a job again only if an input has changed or the result is missing", async () => {
  const work = vi.fn(async () => write("output", "result"));
  await job(work);
  await job(work);
  write("ignored.txt", "anything");
  await job(work);
  expect(work).toHaveBeenCalledTimes(1);
  write("input.txt", "two");
  await job(work);
  expect(work).toHaveBeenCalledTimes(2);
  rmSync(join(folder, "output"));
  await job(work);
  expect(work).toHaveBeenCalledTimes(3);
});

it("runs a failed job again", async () => {
  await expect(job(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  const work = vi.fn(async () => write("output", "result"));
  await job(work);
  expect(work).toHaveBeenCalledTimes(1);
});
