import { Button } from "#studio/ui/button.tsx";
import { downloadCsv } from "#studio/ui/download.ts";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { type PollParticipation, shareText } from "./figures.ts";
import type { useReach } from "./queries.ts";
import "#studio/ui/table.css";

const TITLE = "Participation by poll";

/** Of those who saw a poll, how many responded to it. */
export function ParticipationTable({ polls, query }: { polls: PollParticipation[]; query: ReturnType<typeof useReach> }) {
  return (
    <section className="chart" aria-label={TITLE}>
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
      {polls.length > 0 && (
        <div className="table-frame" tabIndex={0} role="region" aria-label={`${TITLE}, numbers`}>
          <table className="table" aria-label={TITLE}>
            <thead>
              <tr>
                <th scope="col">Poll</th>
                <th scope="col" className="number">
                  Shown
                </th>
                <th scope="col" className="number">
                  Responded
                </th>
                <th scope="col" className="number">
                  Share
                </th>
              </tr>
            </thead>
            <tbody>
              {polls.map((poll) => (
                <tr key={String(poll.id)}>
                  <th scope="row">{poll.name}</th>
                  <td className="number">{poll.shown.toLocaleString("en-GB")}</td>
                  <td className="number">{poll.responded.toLocaleString("en-GB")}</td>
                  <td className="number">{shareText(poll.percent)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function download(polls: PollParticipation[]): void {
  downloadCsv(TITLE, [
    ["id", "name", "shown", "responded", "percent"],
    ...polls.map(({ id, name, shown, responded, percent }) => [id ?? "", name, shown, responded, percent ?? ""]),
  ]);
}
