import { createColumnHelper, tableFeatures, useTable } from "@tanstack/react-table";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { labelOf } from "#studio/api/fields.ts";
import { Cell } from "./cell.tsx";
import { idOf, nameOf, type Resource, valueAt } from "./resource.ts";
import "#studio/ui/table.css";

export interface Sorting {
  by: string;
  direction: 1 | -1;
}

interface Props {
  resource: Resource;
  items: unknown[];
  /** The fields by which the API can sort. */
  sortable: readonly string[];
  sorting: Sorting | null;
  onSort: (sorting: Sorting) => void;
}

interface Row {
  item: unknown;
}

const features = tableFeatures({});
const helper = createColumnHelper<typeof features, Row>();

/** Rows in the order of the API, which sorts and pages. */
export function ResourceTable({ resource, items, sortable, sorting, onSort }: Props) {
  const data = useMemo(() => items.map((item) => ({ item })), [items]);
  const columns = useMemo(() => columnsOf(resource), [resource]);
  const table = useTable({ features, columns, data, getRowId: ({ item }) => idOf(item) });
  return (
    <div className="table-frame">
      <table className="table" aria-label={resource.title}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => (
                <ColumnHeader key={header.id} path={header.column.id} sortable={sortable} sorting={sorting} onSort={onSort} />
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id}>
              {row.getAllCells().map((cell, index) =>
                index === 0 ? (
                  <th key={cell.id} scope="row">
                    <Link to={`${resource.path}/${row.id}`}>{nameOf(resource, row.original.item)}</Link>
                  </th>
                ) : (
                  <td key={cell.id}>
                    <table.FlexRender cell={cell} />
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

function columnsOf(resource: Resource) {
  return helper.columns(
    resource.columns.map((path) =>
      helper.accessor(({ item }) => valueAt(item, path), {
        id: path,
        cell: ({ getValue }) => <Cell name={lastPart(path)} value={getValue()} />,
      }),
    ),
  );
}

function ColumnHeader({ path, sortable, sorting, onSort }: Omit<Props, "resource" | "items"> & { path: string }) {
  const label = labelOf(lastPart(path));
  const by = [path, lastPart(path)].find((name) => sortable.includes(name));
  if (by === undefined) return <th scope="col">{label}</th>;
  const direction = sorting?.by === by ? sorting.direction : null;
  return (
    <th scope="col" aria-sort={direction === null ? "none" : direction === 1 ? "ascending" : "descending"}>
      <button type="button" className="table-sort" onClick={() => onSort({ by, direction: direction === 1 ? -1 : 1 })}>
        {label}
        <span aria-hidden="true">{direction === null ? "" : direction === 1 ? "↑" : "↓"}</span>
      </button>
    </th>
  );
}

function lastPart(path: string): string {
  return path.split(".").at(-1) ?? path;
}
