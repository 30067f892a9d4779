import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type TifoClient } from "#sdk/client/index.ts";
import { useSearch, useSearchText } from "#studio/app/search.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Breakable } from "#studio/ui/breakable.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, LiveTable } from "#studio/ui/data-table.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { BACKLOG, matches, type SiteEvent, withLater } from "./event-tail.ts";
import { LiveState, PauseButton } from "./live-state.tsx";
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
        <PauseButton isLive={isLive} onChange={setLive} />
      </PageHeader>
      <div className="toolbar">
        <TextField label="Find" type="search" value={text} onChange={setText} placeholder="Resource, actor or request" maxLength={100} />
        <Select
          label="Type"
          value={type}
          onChange={(next) => setSearch({ type: next })}
          empty="All"
          options={(types.data ?? []).map((value) => ({ value, text: value }))}
          isLoading={types.isPending}
        />
        <LiveState isLive={isLive} isError={events.isError} />
      </div>
      <LiveTable
        label="Events"
        noun="the events"
        list={events}
        read={events.data ? found : null}
        empty={
          text === "" && type === "" ? (
            <Empty title="Nothing has happened yet." icon="list">
              Each change of the site appears here within a second, whoever made it.
            </Empty>
          ) : (
            <Empty
              title="Nothing matches."
              icon="list"
              action={
                <Button
                  onPress={() => {
                    setText("");
                    setSearch({ type: "" });
                  }}
                >
                  Show all events
                </Button>
              }
            />
          )
        }
        keyOf={({ sequence }) => String(sequence)}
        columns={COLUMNS}
      />
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

const COLUMNS: readonly Column<SiteEvent>[] = [
  { title: "No.", kind: "number", cell: ({ sequence }) => sequence.toLocaleString("en-GB") },
  { title: "Type", kind: "heading", cell: ({ type }) => <Breakable text={type} /> },
  { title: "Resource", kind: "id", cell: ({ resource }) => <Breakable text={resource} /> },
  { title: "Actor", kind: "id", cell: ({ actor }) => <Breakable text={actor} /> },
  { title: "Time", kind: "time", cell: ({ created }) => timeText(created) },
  {
    title: "Data",
    cell: ({ sequence, requestId, data }) => (
      <details>
        <summary>{`Show ${String(sequence)}`}</summary>
        <pre className="event-data">{JSON.stringify({ requestId, ...data }, null, 2)}</pre>
      </details>
    ),
  },
];
