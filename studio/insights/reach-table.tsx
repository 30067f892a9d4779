import { labelOf } from "#studio/api/fields.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { downloadCsv } from "#studio/ui/download.ts";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { madeAt } from "./figures.ts";
import type { NamedReach, useReach } from "./queries.ts";

const SHOWN = 25;

const COLUMNS: readonly Column<NamedReach>[] = [
  { title: "Name", kind: "heading", cell: nameOf },
  { title: "Kind", cell: ({ kind }) => labelOf(kind) },
  { title: "Shown", kind: "number", cell: ({ shown }) => shown.toLocaleString("en-GB") },
  { title: "Used", kind: "number", cell: ({ used }) => used.toLocaleString("en-GB") },
];

/** What viewers saw and used most; broadcasts have a table of their own. */
export function ReachTable({ title, rows, query }: { title: string; rows: NamedReach[]; query: ReturnType<typeof useReach> }) {
  const shown = rows.slice(0, SHOWN);
  return (
    <section className="card chart" aria-label={title}>
      <div className="chart-head">
        <h2>{title}</h2>
        {rows.length > 0 && (
          <Button size="small" aria-label={`Download CSV: ${title}`} onPress={() => download(title, rows)}>
            Download CSV
          </Button>
        )}
      </div>
      {query.isPending && <Loading />}
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && <p className="chart-empty soft">Nothing was counted in this time.</p>}
      {shown.length > 0 && (
        <DataTable label={`${title}, numbers`} rows={shown} keyOf={({ kind, id }) => `${kind} ${String(id)}`} columns={COLUMNS} />
      )}
    </section>
  );
}

function nameOf({ id, kind, name }: NamedReach): string {
  if (id === null) return "All others";
  if (kind === "broadcast") return timeText(madeAt(id));
  return name ?? "Deleted";
}

function download(title: string, rows: NamedReach[]): void {
  downloadCsv(title, [
    ["kind", "id", "name", "shown", "used"],
    ...rows.map((row) => [row.kind, row.id ?? "", nameOf(row), row.shown, row.used]),
  ]);
}
