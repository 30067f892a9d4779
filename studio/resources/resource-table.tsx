import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { labelOf } from "#studio/api/fields.ts";
import { type Column, DataTable, type Sorting } from "#studio/ui/data-table.tsx";
import { Cell, namesTime } from "./cell.tsx";
import { idOf, nameOf, type Resource, valueAt } from "./resource.ts";

interface Props {
  resource: Resource;
  items: unknown[];
  /** The fields by which the API can sort. */
  sortable: readonly string[];
  sorting: Sorting | null;
  onSort: (sorting: Sorting) => void;
}

/** Rows in the order of the API, which sorts and pages. */
export function ResourceTable({ resource, items, sortable, sorting, onSort }: Props) {
  const columns = useMemo(() => columnsOf(resource, sortable), [resource, sortable]);
  return <DataTable label={resource.title} rows={items} keyOf={idOf} columns={columns} sorting={sorting} onSort={onSort} />;
}

function columnsOf(resource: Resource, sortable: readonly string[]): Column<unknown>[] {
  return resource.columns.map((path, index) => {
    const name = lastPart(path);
    const sort = [path, name].find((known) => sortable.includes(known));
    return {
      title: labelOf(name),
      ...(sort !== undefined && { sort }),
      ...(index === 0
        ? { kind: "heading" as const, cell: (item) => <Link to={`${resource.path}/${idOf(item)}`}>{nameOf(resource, item)}</Link> }
        : { ...kindOf(name), cell: (item) => <Cell name={name} value={valueAt(item, path)} /> }),
    };
  });
}

function kindOf(name: string): Pick<Column<unknown>, "kind"> {
  if (name === "description") return { kind: "prose" };
  return namesTime(name) ? { kind: "time" } : {};
}

function lastPart(path: string): string {
  return path.split(".").at(-1) ?? path;
}
