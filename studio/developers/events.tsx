import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type TifoClient } from "#sdk/client/index.ts";
import { useSearch, useSearchText } from "#studio/app/search.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { BACKLOG, matches, type SiteEvent, withLater } from "./event-tail.ts";
import "#studio/ui/table.css";
import "./developers.css";

const TAIL_MS = 2000;
const PAGE = 200;

/** The site's event log, which follows as it grows. */
export default function Events() {
  const { client } = useSession();
  const [search, setSearch] = useSearch();
  const [text, setText] = useSearchText("find");
  const [isLive, setLive] = useState(true);
  const type = search["type"] ?? "";
  const types = useQuery({
    queryKey: ["event-types"],
    queryFn: async () => (await ok(client.api.GET("/webhooks/v1/catalogue"))).results.map((entry) => entry.type).sort(),
    staleTime: Infinity,
  });
  const events = useTail(type, isLive);
  const found = (events.data?.shown ?? []).filter((event) => matches(event, text));
  return (
    <>
      <PageHeader title="Events" description={<LogDocs />}>
        <Button aria-pressed={isLive} onPress={() => setLive(!isLive)}>
          {isLive ? "Pause" : "Continue"}
        </Button>
      </PageHeader>
      <div className="toolbar">
        <TextField label="Find" type="search" value={text} onChange={setText} placeholder="Resource, actor or request" maxLength={100} />
        <Select
          label="Type"
          value={type}
          onChange={(next) => setSearch({ type: next })}
          options={[{ value: "", text: "All" }, ...(types.data ?? []).map((value) => ({ value, text: value }))]}
        />
        <p className="live-state soft" role="status">
          <span className={isLive && !events.isError ? "live-dot" : "live-dot live-dot-off"} aria-hidden="true" />
          {events.isError ? "Can't be read at the moment" : isLive ? "Live" : "Paused"}
        </p>
      </div>
      {events.isPending && <Loading label="Loading the events…" />}
      {events.isError && !events.data && <ErrorState error={events.error} retry={() => void events.refetch()} />}
      {events.data && found.length === 0 && <Empty title={text === "" && type === "" ? "Nothing has happened yet." : "Nothing matches."} />}
      {found.length > 0 && <EventTable events={found} />}
    </>
  );
}

function LogDocs() {
  return (
    <>
      Everything that happened, in order. The same log is <a href="/docs/api-reference/listEvents">GET /webhooks/v1/events</a>.
    </>
  );
}

/** The latest events, and from then on each new one. */
function useTail(type: string, isLive: boolean) {
  const { client } = useSession();
  // Kept by the query, so that a second screen or a change of the filter starts anew.
  return useQuery({
    queryKey: ["event-log", type],
    queryFn: async ({ client: queries, queryKey }) => {
      const last = queries.getQueryData<{ shown: SiteEvent[]; after: number }>(queryKey);
      const after = last?.after ?? (await startOf(client));
      return read(client, type, last?.shown ?? [], after);
    },
    refetchInterval: isLive ? TAIL_MS : false,
    refetchOnWindowFocus: false,
    staleTime: isLive ? 0 : Infinity,
    gcTime: 0,
    structuralSharing: false,
  });
}

async function startOf({ api }: TifoClient): Promise<number> {
  const { head } = await ok(api.GET("/webhooks/v1/events", { params: { query: { limit: 1 } } }));
  return Math.max(0, head - BACKLOG);
}

async function read({ api }: TifoClient, type: string, shown: SiteEvent[], after: number) {
  const query = { after, limit: PAGE, ...(type !== "" && { types: type }) };
  const page = await ok(api.GET("/webhooks/v1/events", { params: { query } }));
  return { shown: withLater(shown, page.results), after: page.after };
}

function EventTable({ events }: { events: SiteEvent[] }) {
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Events">
      <table className="table" aria-label="Events">
        <thead>
          <tr>
            <th scope="col" className="number">
              No.
            </th>
            <th scope="col">Type</th>
            <th scope="col">Resource</th>
            <th scope="col">Actor</th>
            <th scope="col">Time</th>
            <th scope="col">Data</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.sequence}>
              <td className="number">{event.sequence.toLocaleString("en-GB")}</td>
              <th scope="row">{event.type}</th>
              <td className="mono">{event.resource}</td>
              <td className="mono">{event.actor}</td>
              <td>{timeText(event.created)}</td>
              <td>
                <details>
                  <summary>{`Show ${String(event.sequence)}`}</summary>
                  <pre className="event-data">{JSON.stringify({ requestId: event.requestId, ...event.data }, null, 2)}</pre>
                </details>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
