import type { ReactNode } from "react";
import { ErrorState, Loading } from "./states.tsx";
import "./table.css";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** "heading" names its row, "number" is aligned at its end, "code" is a text for machines, "actions" are buttons, whose title nobody needs to see. */
  kind?: "heading" | "number" | "code" | "actions";
}

interface TableProps<Row> {
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  columns: readonly Column<Row>[];
}

/** A table in the order of its rows. If it is wider than the screen, it can be scrolled, also with the keyboard. */
export function DataTable<Row>({ label, rows, keyOf, columns }: TableProps<Row>) {
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th key={title} scope="col" className={kind === "number" ? "number" : undefined}>
                {kind === "actions" ? <span className="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, kind, cell }) =>
                kind === "heading" ? (
                  <th key={title} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={title} className={kind === "number" ? "number" : kind === "code" ? "mono" : undefined}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ListProps<Row> extends Omit<TableProps<Row>, "rows"> {
  /** What is read, in a sentence: "the requests". */
  noun: string;
  list: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown };
  /** Null until the first rows have been read; after that, an error doesn't hide them. */
  read: readonly Row[] | null;
  /** Shown instead of a table without rows. */
  empty: ReactNode;
}

/** The rows of a list that is read again and again, or why there are none. */
export function LiveTable<Row>({ noun, list, read, empty, ...table }: ListProps<Row>) {
  if (read === null) {
    if (list.isPending) return <Loading label={`Loading ${noun}…`} />;
    return list.isError ? <ErrorState error={list.error} retry={() => void list.refetch()} /> : null;
  }
  return read.length === 0 ? empty : <DataTable rows={read} {...table} />;
}
