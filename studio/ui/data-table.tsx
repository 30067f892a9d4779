import type { ReactNode } from "react";
import { ErrorState } from "./states.tsx";
import { TableSkeleton } from "./table-skeleton.tsx";
import "./table.css";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /**
   * "heading" names its row, "number" is aligned at its end, "code" is a text for machines, "id" one that has no spaces, "prose" are sentences, "lines" a text of several
   * lines, "time" stays on one line, "actions" are buttons, whose title nobody needs to see.
   */
  kind?: "heading" | "number" | "code" | "id" | "prose" | "lines" | "time" | "actions";
  /** The name by which the list can be sorted by it. */
  sort?: string;
}

export interface Sorting {
  by: string;
  direction: 1 | -1;
}

export interface Selection<Row> {
  /** The keys of the rows that are ticked. */
  ticked: ReadonlySet<string>;
  onChange: (ticked: ReadonlySet<string>) => void;
  nameOf: (row: Row) => string;
  /** All rows: "All rules". */
  all: string;
}

interface TableProps<Row> {
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  columns: readonly Column<Row>[];
  /** How the rows are sorted now; the caller sorts them. */
  sorting?: Sorting | null;
  onSort?: (sorting: Sorting) => void;
  selection?: Selection<Row> | null;
  /** Of the frame around the table. */
  className?: string;
}

/** A table in the order of its rows. If it is wider than the screen, it can be scrolled, also with the keyboard. */
export function DataTable<Row>({ label, rows, keyOf, columns, sorting = null, onSort, selection, className = "" }: TableProps<Row>) {
  return (
    <div className={`table-frame ${className}`.trim()} tabIndex={0} role="region" aria-label={label}>
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {selection && (
              <th scope="col" className="table-pick">
                <Tick label={selection.all} keys={rows.map(keyOf)} {...selection} />
              </th>
            )}
            {columns.map((column) => (
              <ColumnHeader key={column.title} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            return (
              <tr key={key} data-ticked={selection ? selection.ticked.has(key) : undefined}>
                {selection && (
                  <td className="table-pick">
                    <Tick label={selection.nameOf(row)} keys={[key]} {...selection} />
                  </td>
                )}
                {columns.map(({ title, kind, cell }) =>
                  kind === "heading" ? (
                    <th key={title} scope="row">
                      {cell(row)}
                    </th>
                  ) : (
                    <td key={title} className={kind && CLASSES[kind]}>
                      {cell(row)}
                    </td>
                  ),
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const CLASSES = {
  number: "number",
  code: "mono",
  id: "mono table-id",
  prose: "table-prose",
  lines: "table-lines",
  time: "table-time",
  actions: undefined,
} as const;

interface HeaderProps {
  column: Pick<Column<never>, "title" | "kind" | "sort">;
  sorting: Sorting | null;
  onSort: ((sorting: Sorting) => void) | undefined;
}

function ColumnHeader({ column: { title, kind, sort }, sorting, onSort }: HeaderProps) {
  const className = kind === "number" ? "number" : undefined;
  if (sort === undefined || !onSort)
    return (
      <th scope="col" className={className}>
        {kind === "actions" ? <span className="visually-hidden">{title}</span> : title}
      </th>
    );
  const direction = sorting?.by === sort ? sorting.direction : null;
  return (
    <th scope="col" className={className} aria-sort={direction === null ? "none" : direction === 1 ? "ascending" : "descending"}>
      <button type="button" className="table-sort" onClick={() => onSort({ by: sort, direction: direction === 1 ? -1 : 1 })}>
        {title}
        <span aria-hidden="true">{direction === null ? "" : direction === 1 ? "↑" : "↓"}</span>
      </button>
    </th>
  );
}

interface TickProps {
  label: string;
  keys: readonly string[];
  ticked: ReadonlySet<string>;
  onChange: (ticked: ReadonlySet<string>) => void;
}

/** Ticks these rows, or none of them. */
function Tick({ label, keys, ticked, onChange }: TickProps) {
  const isTicked = keys.length > 0 && keys.every((key) => ticked.has(key));
  return (
    <input
      type="checkbox"
      className="table-tick"
      aria-label={`Select ${label}`}
      checked={isTicked}
      onChange={() => onChange(isTicked ? new Set([...ticked].filter((key) => !keys.includes(key))) : new Set([...ticked, ...keys]))}
    />
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

/** The rows of a list that is read, perhaps again and again, or why there are none. */
export function LiveTable<Row>({ noun, list, read, empty, ...table }: ListProps<Row>) {
  if (read === null) {
    if (list.isPending) return <TableSkeleton label={`Loading ${noun}…`} titles={table.columns.map(({ title }) => title)} />;
    return list.isError ? <ErrorState error={list.error} retry={() => void list.refetch()} /> : null;
  }
  return read.length === 0 ? empty : <DataTable rows={read} {...table} />;
}
