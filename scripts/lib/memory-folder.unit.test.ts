import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMemoryFolder, withMemoryFolder } from "./memory-folder.ts";

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "tifo-memory-"));
});
afterEach(() => rmSync(parent, { recursive: true }));

test("is a new, empty folder each time", () => {
  const [one, other] = [createMemoryFolder({ parent, neededBytes: 0 }), createMemoryFolder({ parent, neededBytes: 0 })];
  expect(one).not.toBe(other);
  expect([one, other].map((folder) => dirname(folder ?? ""))).toEqual([parent, parent]);
  expect(readdirSync(one ?? "")).toEqual([]);
});

test("isn't made where there is too little space", () => {
  expect(createMemoryFolder({ parent, neededBytes: 1e18 })).toBeUndefined();
  expect(readdirSync(parent)).toEqual([]);
});

test("isn't made on a system without memory that looks like a folder", () => {
  expect(createMemoryFolder({ parent: join(parent, "missing"), neededBytes: 0 })).toBeUndefined();
});

test("holds temporary files only while something runs, even if that fails", async () => {
  const fail = async ({ TMPDIR = "" }: Record<string, string>): Promise<void> => {
    expect(dirname(TMPDIR)).toBe(parent);
    writeFileSync(join(TMPDIR, "state"), "1");
    throw new Error("It failed.");
  };
  await expect(withMemoryFolder(fail, { parent, neededBytes: 0 })).rejects.toThrow("It failed.");
  expect(readdirSync(parent)).toEqual([]);
  expect(await withMemoryFolder(async (env) => env, { parent, neededBytes: 1e18 })).toEqual({});
});
