import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSearch, useSearchText } from "#studio/app/search.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
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
import "#studio/ui/table.css";
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
        <Button aria-pressed={isLive} onPress={() => setLive(!isLive)}>
          {isLive ? "Pause" : "Continue"}
        </Button>
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
        <p className="live-state soft" role="status">
          <span className={isLive && !list.isError ? "live-dot" : "live-dot live-dot-off"} aria-hidden="true" />
          {list.isError ? "Can't be read at the moment" : isLive ? "Live" : "Paused"}
        </p>
      </div>
      {latest && <p className="request-count soft">{sampleText(latest)}</p>}
      {list.isPending && <Loading label="Loading the requests…" />}
      {list.isError && !list.data && <ErrorState error={list.error} retry={() => void list.refetch()} />}
      {latest && found.length === 0 && <Nothing isRecording={latest.recording} isFiltered={text !== "" || route !== "" || !!status} />}
      {found.length > 0 && <RequestTable requests={found} />}
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

function Nothing({ isRecording, isFiltered }: { isRecording: boolean; isFiltered: boolean }) {
  if (!isRecording) return <Empty title="The request log is off.">Whoever runs this deployment can turn it on.</Empty>;
  if (isFiltered) return <Empty title="Nothing matches." />;
  return <Empty title="No requests in the last hour.">A request appears here a few seconds after its response.</Empty>;
}

function RequestTable({ requests }: { requests: LoggedRequest[] }) {
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Requests">
      <table className="table" aria-label="Requests">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Method</th>
            <th scope="col">Route</th>
            <th scope="col">Status</th>
            <th scope="col">Error</th>
            <th scope="col" className="number">
              ms
            </th>
            <th scope="col">Request</th>
          </tr>
        </thead>
        <tbody>
          {requests.map((request) => (
            <Row key={`${String(request.at)} ${request.requestId}`} request={request} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ request: { at, method, route, operationId, status, code, ms, requestId } }: { request: LoggedRequest }) {
  return (
    <tr>
      <td>{TIME.format(at)}</td>
      <td className="mono">{method}</td>
      <th scope="row">
        {operationId === null ? (
          <span className="soft">No such operation</span>
        ) : (
          <a href={`/docs/api-reference/${operationId}`}>{route}</a>
        )}
      </th>
      <td>
        <span className={`badge status-${toneOf(status)}`}>{status}</span>
      </td>
      <td>{code === null ? <span className="soft">–</span> : <a href={`/errors#${code}`}>{code}</a>}</td>
      <td className="number">{ms.toLocaleString("en-GB")}</td>
      <td>
        <span className="mono request-id" title={requestId}>
          {requestId}
        </span>
      </td>
    </tr>
  );
}
