import { expect, test } from "vitest";
import { parseRange } from "./byte-range.ts";

test.each([
  ["bytes=0-3", { offset: 0, length: 4 }],
  ["bytes=4-", { offset: 4, length: 6 }],
  ["bytes=-3", { offset: 7, length: 3 }],
  ["bytes=-99", { offset: 0, length: 10 }],
  ["bytes=8-99", { offset: 8, length: 2 }],
  ["bytes=9-9", { offset: 9, length: 1 }],
])("parseRange resolves %s for a file of ten bytes", (header, range) => {
  expect(parseRange(header, 10)).toEqual(range);
});

test.each(["bytes=10-", "bytes=10-12", "bytes=-0"])("parseRange returns null for the unsatisfiable %s of a file of ten bytes", (header) => {
  expect(parseRange(header, 10)).toBeNull();
});

test.each([undefined, "", "bytes=-", "bytes=5-4", "bytes=0-1,4-5", "lines=0-1", "bytes=a-b"])("parseRange ignores %s", (header) => {
  expect(parseRange(header, 10)).toBeUndefined();
});
