import type { Element } from "hast";
import { defineHastPlugin } from "satteri";

/** Cells longer than this are sentences, which narrow columns would make unreadable. In characters. */
const MAX_SHORT = 30;
/** Columns of sentences that explain the others, which readers recognise without their names. */
const UNNAMED = ["Meaning", "Description"];

/**
 * Marks tables with sentences, which phones show row by row (`.stacked` in tables.css): the first cell is a row's heading, and the others
 * have their columns' names before them. Short cells are compared by column, so their tables stay as they are.
 */
export const stackedTables = defineHastPlugin({
  name: "tifo-stacked-tables",
  element: {
    filter: ["table"],
    visit(table, context) {
      const textOf = (cell: Element) => context.textContent(cell);
      const rows = descendants(table, "tr").map((row) => descendants(row, "td"));
      if (!rows.flat().some((cell) => textOf(cell).length > MAX_SHORT)) return;
      context.setProperty(table, "className", ["stacked"]);
      const columns = descendants(table, "th").map(textOf);
      // Beside its heading, one cell needs no name.
      if (columns.length < 3) return;
      for (const row of rows) {
        row.forEach((cell, at) => {
          const column = columns[at];
          if (at > 0 && column !== undefined && !UNNAMED.includes(column)) context.setProperty(cell, "dataColumn", column);
        });
      }
    },
  },
});

function descendants(parent: Element, tagName: string): Element[] {
  return parent.children.flatMap((child) => {
    if (child.type !== "element") return [];
    return child.tagName === tagName ? [child] : descendants(child, tagName);
  });
}
