import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSearch, useSearchText } from "#studio/app/search.ts";
import { useSession } from "#studio/session/context.tsx";
import { Breakable } from "#studio/ui/breakable.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, LiveTable } from "#studio/ui/data-table.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { LiveState, PauseButton } from "./live-state.tsx";
import {
  cursorOf,
  type LoggedRequest,
  matchesRequest,
  routesOf,
  sampleText,
  STATUS_CLASSES,
  statusClassOf,
  toneOf,
} from "./request-log.ts";
import "#studio/ui/badge.css";
import "./developers.css";

const REFRESH_MS = 2000;
const PAGE = 200;
const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** The requests to the site's API in the last hour, which follows as there are more. */
export default function Requests() {
  const [search, setSearch] = useSearch();
  const [text, setText] = useSearchText("find");
  const [isLive, setLive] = useState(true);
  const status = statusClassOf(search["status"]);
  const route = search["route"] ?? "";
  const list = useRequests(status, route, isLive);
  const loaded = list.data?.pages.flatMap(({ results }) => results) ?? [];
  const found = loaded.filter((request) => matchesRequest(request, text));
  const [latest] = list.data?.pages ?? [];
  return (
    <>
      <PageHeader title="Requests" description={<LogDocs />}>
        <PauseButton isLive={isLive} onChange={setLive} />
      </PageHeader>
      <div className="toolbar">
        <TextField label="Find" type="search" value={text} onChange={setText} placeholder="Route, error or request" maxLength={100} />
        <Select
          label="Status"
          value={status ?? ""}
          onChange={(next) => setSearch({ status: next })}
          options={[{ value: "", text: "All" }, ...STATUS_CLASSES]}
        />
        <Select
          label="Route"
          value={route}
          onChange={(next) => setSearch({ route: next })}
          options={[{ value: "", text: "All" }, ...routesOf(loaded, route).map((value) => ({ value, text: value }))]}
        />
        <LiveState isLive={isLive} isError={list.isError} />
      </div>
      {latest && <p className="request-count soft">{sampleText(latest)}</p>}
      <LiveTable
        label="Requests"
        noun="the requests"
        list={list}
        read={latest ? found : null}
        empty={
          <Nothing
            isRecording={latest?.recording === true}
            isFiltered={text !== "" || route !== "" || !!status}
            onShowAll={() => {
              setText("");
              setSearch({ find: "", status: "", route: "" });
            }}
          />
        }
        keyOf={({ at, requestId }) => `${String(at)} ${requestId}`}
        columns={COLUMNS}
      />
      {list.hasNextPage && (
        <div className="table-footer">
          <Button onPress={() => void list.fetchNextPage()} isDisabled={list.isFetchingNextPage}>
            Show earlier requests
          </Button>
        </div>
      )}
    </>
  );
}

function LogDocs() {
  return (
    <>
      What your pages, servers and colleagues asked of this site&apos;s API in the last hour. The same list is{" "}
      <a href="/docs/api-reference/listRequests">GET /insights/v1/requests</a>.
    </>
  );
}

function useRequests(status: ReturnType<typeof statusClassOf>, route: string, isLive: boolean) {
  const { client } = useSession();
  return useInfiniteQuery({
    queryKey: ["requests", status, route],
    queryFn: ({ pageParam }) => {
      const filter = { ...(status && { status }), ...(route !== "" && { route }), ...(pageParam !== "" && { cursor: pageParam }) };
      return ok(client.api.GET("/insights/v1/requests", { params: { query: { limit: PAGE, ...filter } } }));
    },
    initialPageParam: "",
    getNextPageParam: (page: Schemas["RequestList"]) => cursorOf(page.pagination.next),
    refetchInterval: isLive ? REFRESH_MS : false,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
}

interface NothingProps {
  isRecording: boolean;
  isFiltered: boolean;
  onShowAll: () => void;
}

function Nothing({ isRecording, isFiltered, onShowAll }: NothingProps) {
  if (!isRecording)
    return (
      <Empty title="The request log is off." icon="request">
        Whoever runs this deployment can turn it on.
      </Empty>
    );
  if (isFiltered) return <Empty title="Nothing matches." icon="request" action={<Button onPress={onShowAll}>Show all requests</Button>} />;
  return (
    <Empty title="No requests in the last hour." icon="request">
      A request appears here a few seconds after its response.
    </Empty>
  );
}

const COLUMNS: readonly Column<LoggedRequest>[] = [
  { title: "Time", cell: ({ at }) => TIME.format(at) },
  { title: "Method", kind: "code", cell: ({ method }) => method },
  {
    title: "Route",
    kind: "heading",
    cell: ({ route, operationId }) =>
      operationId === null || route === null ? (
        <span className="soft">No such operation</span>
      ) : (
        <a href={`/docs/api-reference/${operationId}`}>
          <Breakable text={route} />
        </a>
      ),
  },
  { title: "Status", cell: ({ status }) => <span className={`badge status-${toneOf(status)}`}>{status}</span> },
  {
    title: "Error",
    cell: ({ code }) =>
      code === null ? (
        <span className="soft">–</span>
      ) : (
        <a href={`/errors#${code}`}>
          <Breakable text={code} />
        </a>
      ),
  },
  { title: "ms", kind: "number", cell: ({ ms }) => ms.toLocaleString("en-GB") },
  {
    title: "Request",
    cell: ({ requestId }) => (
      <span className="mono request-id" title={requestId}>
        {requestId}
      </span>
    ),
  },
];
