import { csvLine } from "#worker/lib/csv.ts";

/** Saves rows as a CSV file, with text that a spreadsheet would treat as a formula escaped. */
export function downloadCsv(title: string, rows: (string | number | boolean)[][]): void {
  saveFile(`${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.csv`, new Blob(rows.map(csvLine), { type: "text/csv" }));
}

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
