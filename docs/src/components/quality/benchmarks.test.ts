import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readResults } from "./benchmarks.ts";

const SAMPLE = `# Benchmarks

<!-- begin environment -->

- 2026-11-22, commit abc
- 2 cores

<!-- end environment -->

## A: HTTP layer

A POST with \`JSON\`, see [the code](a.ts).

<!-- begin A -->

|          | Tifo | ratio             |
| -------- | ---- | ----------------- |
| requests | 5/s  | **0.69** & _held_ |

- 2026-11-20, 86 s, load average before 0.1 0.2 0.3, after 0.4 0.5 0.6

<!-- end A -->

## B: Later

Not run yet.

<!-- begin B -->
<!-- end B -->
`;

test("the results have their tables, the machine and what was measured", () => {
  const { environment, benchmarks } = readResults(SAMPLE);
  expect(environment).toEqual(["2026-11-22, commit abc", "2 cores"]);
  expect(benchmarks).toEqual([
    {
      ...{ id: "A", title: "HTTP layer", description: "A POST with <code>JSON</code>, see the code." },
      ...{ header: ["", "Tifo", "ratio"], rows: [["requests", "5/s", "<strong>0.69</strong> &amp; <em>held</em>"]], day: "2026-11-20" },
    },
    { id: "B", title: "Later", description: "Not run yet.", header: [], rows: [], day: undefined },
  ]);
});

test("the project's own results can be read, and text without results can't", () => {
  const { benchmarks } = readResults(readFileSync("bench/RESULTS.md", "utf8"));
  expect(benchmarks.length).toBeGreaterThan(10);
  for (const { id, header, rows, day, description } of benchmarks) {
    for (const row of rows) expect(row, id).toHaveLength(header.length);
    expect(description, id).not.toBe("");
    if (rows.length > 0) expect(day, id).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  }
  expect(() => readResults("# Benchmarks")).toThrow("no results");
});
