import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { downloadCsv } from "#studio/ui/download.ts";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { type PollParticipation, shareText } from "./figures.ts";
import type { useReach } from "./queries.ts";

const TITLE = "Participation by poll";

const COLUMNS: readonly Column<PollParticipation>[] = [
  { title: "Poll", kind: "heading", cell: ({ name }) => name },
  { title: "Shown", kind: "number", cell: ({ shown }) => shown.toLocaleString("en-GB") },
  { title: "Responded", kind: "number", cell: ({ responded }) => responded.toLocaleString("en-GB") },
  { title: "Share", kind: "number", cell: ({ percent }) => shareText(percent) },
];

/** Of those who saw a poll, how many responded to it. */
export function ParticipationTable({ polls, query }: { polls: PollParticipation[]; query: ReturnType<typeof useReach> }) {
  return (
    <section className="card chart" aria-label={TITLE}>
      <div className="chart-head">
        <div>
          <h2>{TITLE}</h2>
          <p className="soft">Accounts that responded, of the times that the poll was shown to a viewer.</p>
        </div>
        {polls.length > 0 && (
          <Button size="small" aria-label={`Download CSV: ${TITLE}`} onPress={() => download(polls)}>
            Download CSV
          </Button>
        )}
      </div>
      {query.isPending && <Loading />}
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.isSuccess && polls.length === 0 && <p className="chart-empty soft">No poll was shown in this time.</p>}
      {polls.length > 0 && <DataTable label={`${TITLE}, numbers`} rows={polls} keyOf={({ id }) => String(id)} columns={COLUMNS} />}
    </section>
  );
}

function download(polls: PollParticipation[]): void {
  downloadCsv(TITLE, [
    ["id", "name", "shown", "responded", "percent"],
    ...polls.map(({ id, name, shown, responded, percent }) => [id ?? "", name, shown, responded, percent ?? ""]),
  ]);
}
