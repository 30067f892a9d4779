import { markdownToHtml } from "satteri";
import { expect, test } from "vitest";
import { stackedTables } from "./stacked-tables.ts";

function html(...lines: string[]): string {
  return markdownToHtml(lines.join("\n"), { hastPlugins: [stackedTables] }).html;
}

test("a table with a sentence is stacked, and its cells have the names of their columns", () => {
  const table = html(
    "| Field | `Type` | Reset | Meaning |",
    "| --- | --- | --- | --- |",
    "| `live` | Bool | no | Whether a stream has gone **live** since |",
  );
  expect(table).toContain('<table class="stacked">');
  expect(table).toContain("<td><code>live</code></td>");
  expect(table).toContain('<td data-column="Type">Bool</td>');
  expect(table).toContain('<td data-column="Reset">no</td>');
  // What everybody recognises has none.
  expect(table).toContain("<td>Whether");
});

test("the only cell beside a heading has no name", () => {
  const table = html("| Field | Meaning |", "| --- | --- |", "| `live` | Whether a stream has gone live since |");
  expect(table).toContain('<table class="stacked">');
  expect(table).toContain("<td>Whether");
});

test("a table of short cells stays as it is", () => {
  const table = html("| Case | Now | A column whose name is a long one |", "| --- | --- | --- |", "| F | 1.2 | 2.1 |");
  expect(table).toContain("<table>");
  expect(table).not.toContain("data-column");
});
