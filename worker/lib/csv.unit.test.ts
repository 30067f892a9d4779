import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csvField, csvLine, readCsv } from "./csv.ts";

async function read(text: string, cuts: number[] = []): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const row of readCsv(inChunks(new TextEncoder().encode(text), cuts))) rows.push(row);
  return rows;
}

async function* inChunks(bytes: Uint8Array, cuts: number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of cuts.map((part) => Math.floor(part * bytes.length)).sort((one, other) => one - other)) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

describe("readCsv", () => {
  test("reads back what was written, for any fields, line endings and chunks", async () => {
    const field = fc.string({ unit: fc.constantFrom("a", "é", "🎺", '"', ",", "\r", "\n", " ") });
    const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 6 });
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom("\r\n", "\n", "\r"), fc.boolean(), cuts, async (written, lineEnd, ended, at) => {
        const text = written.map((row) => row.map(quote).join(",")).join(lineEnd) + (ended ? lineEnd : "");
        expect(await read(text, at)).toEqual(written);
      }),
      { numRuns: 500 },
    );
  });

  test("reads bare fields, and skips empty lines and a byte order mark", async () => {
    expect(await read("\uFEFFaccount_id,tag_name\r\n\r\n1, team \n\n2,\n")).toEqual([
      ["account_id", "tag_name"],
      ["1", " team "],
      ["2", ""],
    ]);
  });

  test.each([
    ['a,b\n1,"open', 2, "A quote is never closed"],
    ['a,b\n1,ba"re', 2, "A quote in a field that doesn't start with one"],
    ['a,b\n\n1,"closed"d', 3, "Text after a closing quote"],
    [`a,b\n1,${"x".repeat(70_000)}`, 2, "Longer than 65536 characters"],
  ])("reports the row and the error of %j", async (text, row, message) => {
    await expect(read(text)).rejects.toMatchObject({ row, message });
  });
});

describe("csvField", () => {
  test.each([
    ["plain", "plain"],
    ["", ""],
    ["a=b", "a=b"],
    [" =b", " =b"],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@sum", "'@sum"],
    ["\t=1", "'\t=1"],
    ["\r=1", '"\'\r=1"'],
    ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
    ['say "a"', '"say ""a"""'],
    ["a,b", '"a,b"'],
    ["a\rb", '"a\rb"'],
    ["a\nb", '"a\nb"'],
    ["\n", '"\n"'],
    ["'=1", "'=1"],
  ])("writes %j as %j", (text, written) => {
    expect(csvField(text)).toBe(written);
  });

  test("writes negative numbers as numbers, so that they can be added up", () => {
    expect(csvLine([-5, "-5", 0.5])).toBe("-5,'-5,0.5\r\n");
  });

  test("writes fields that read back unchanged, except for an apostrophe before formulas", async () => {
    const field = fc.string({ unit: fc.constantFrom("a", "=", "+", "-", "@", "\t", '"', ",", "\r", "\n", "'", " ") });
    await fc.assert(
      fc.asyncProperty(fc.array(field, { minLength: 2, maxLength: 4 }), async (fields) => {
        const escaped = fields.map((text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text));
        expect(await read(csvLine(fields))).toEqual([escaped]);
      }),
      { numRuns: 500 },
    );
  });
});

function quote(field: string): string {
  return `"${field.replaceAll('"', '""')}"`;
}
