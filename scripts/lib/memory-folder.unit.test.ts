import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMemoryFolder } from "./memory-folder.ts";

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
