import { lazy, type ReactNode, Suspense, useId } from "react";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { downloadCsv } from "#studio/ui/download.ts";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { timeText } from "#studio/resources/cell.tsx";
import type { Series } from "./chart.tsx";
import type { Point } from "./figures.ts";

const Chart = lazy(() => import("./chart.tsx"));
const SYNC = "insights";

interface Query {
  isPending: boolean;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
}

interface Props {
  title: string;
  description?: ReactNode;
  series: readonly Series[];
  points: readonly Point[];
  query: Query;
}

/** A chart with its numbers as a table, for whoever doesn't see it, and as CSV. */
export function ChartPanel({ title, description, series, points, query }: Props) {
  const id = useId();
  const hasData = points.some(({ values }) => values.some((value) => value > 0));
  return (
    <section className="card chart" aria-labelledby={id}>
      <div className="chart-head">
        <div>
          <h2 id={id}>{title}</h2>
          {description !== undefined && <p className="soft">{description}</p>}
        </div>
        {hasData && (
          <Button size="small" aria-label={`Download CSV: ${title}`} onPress={() => download(title, series, points)}>
            Download CSV
          </Button>
        )}
      </div>
      {query.isPending && <Loading />}
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {!query.isPending && !query.isError && !hasData && <p className="chart-empty soft">Nothing was counted in this time.</p>}
      {!query.isError && hasData && (
        <>
          <Suspense fallback={<Loading />}>
            <Chart series={series} points={points} syncKey={SYNC} />
          </Suspense>
          <NumberTable title={title} series={series} points={points} />
        </>
      )}
    </section>
  );
}

/** Rows that are zero throughout say nothing, and a minute chart has a thousand of them. */
function NumberTable({ title, series, points }: Pick<Props, "title" | "series" | "points">) {
  const rows = points.filter(({ values }) => values.some((value) => value > 0));
  return (
    <details className="chart-table">
      <summary>Show as a table</summary>
      <DataTable
        label={`${title}; times at which all figures are zero are left out`}
        rows={rows}
        keyOf={({ at }) => String(at)}
        columns={[
          { title: "Time", kind: "heading", cell: ({ at }) => timeText(at) },
          ...series.map(({ label }, index): Column<Point> => ({
            title: label,
            kind: "number",
            cell: ({ values }) => values[index]?.toLocaleString("en-GB"),
          })),
        ]}
      />
    </details>
  );
}

function download(title: string, series: readonly Series[], points: readonly Point[]): void {
  const rows = points.map(({ at, values }) => [new Date(at).toISOString(), ...values]);
  downloadCsv(title, [["time", ...series.map(({ label }) => label)], ...rows]);
}
