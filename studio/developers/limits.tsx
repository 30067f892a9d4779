import { useQuery } from "@tanstack/react-query";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { type Column, LiveTable } from "#studio/ui/data-table.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Empty } from "#studio/ui/states.tsx";
import "./developers.css";

const REFRESH_MS = 10_000;
const LOW = 0.1;

/** The rate limits in force, and what is left of them. */
export default function Limits() {
  const { client } = useSession();
  const limits = useQuery({
    queryKey: ["limits"],
    queryFn: () => ok(client.api.GET("/insights/v1/limits")),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <PageHeader
        title="Limits"
        description={
          <>
            What is left is that of the site, or of your account and address. A request over a limit gets a 429 that says when to try again:{" "}
            <a href="/docs/api-reference/getLimits">GET /insights/v1/limits</a>.
          </>
        }
      />
      <LiveTable
        label="Limits"
        noun="the limits"
        list={limits}
        read={limits.data?.limits ?? null}
        empty={<Empty title="Nothing is limited." icon="limit" />}
        keyOf={({ name }) => name}
        columns={COLUMNS}
      />
    </>
  );
}

const COLUMNS: readonly Column<Schemas["Limit"]>[] = [
  { title: "Name", kind: "heading", cell: ({ name }) => name },
  { title: "What it limits", kind: "prose", cell: ({ description }) => description },
  { title: "Counted per", cell: ({ per }) => per },
  { title: "Limit", kind: "number", cell: ({ limit, window }) => `${limit.toLocaleString("en-GB")} in ${durationText(window)}` },
  { title: "Left", cell: (limit) => <Left limit={limit} /> },
];

function Left({ limit: { name, limit, remaining, reset } }: { limit: Schemas["Limit"] }) {
  if (remaining === null) return <span className="soft">Depends on the request</span>;
  return (
    <div className="limit-left">
      <meter min={0} max={limit} low={limit * LOW} optimum={limit} value={remaining} aria-label={`Left of ${name}`} />
      <span>{remaining.toLocaleString("en-GB")}</span>
      {reset !== null && reset > 0 && remaining < limit && <span className="soft">{`full again in ${durationText(reset)}`}</span>}
    </div>
  );
}

function durationText(seconds: number): string {
  if (seconds % 3600 === 0) return `${String(seconds / 3600)} h`;
  return seconds % 60 === 0 ? `${String(seconds / 60)} min` : `${String(Math.ceil(seconds))} s`;
}
