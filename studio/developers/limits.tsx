import { useQuery } from "@tanstack/react-query";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import "#studio/ui/table.css";
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
      {limits.isPending && <Loading label="Loading the limits…" />}
      {limits.isError && <ErrorState error={limits.error} retry={() => void limits.refetch()} />}
      {limits.data && (
        <div className="table-frame" tabIndex={0} role="region" aria-label="Limits">
          <table className="table" aria-label="Limits">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">What it limits</th>
                <th scope="col">Counted per</th>
                <th scope="col" className="number">
                  Limit
                </th>
                <th scope="col">Left</th>
              </tr>
            </thead>
            <tbody>
              {limits.data.limits.map((limit) => (
                <tr key={limit.name}>
                  <th scope="row">{limit.name}</th>
                  <td>{limit.description}</td>
                  <td>{limit.per}</td>
                  <td className="number">{`${limit.limit.toLocaleString("en-GB")} in ${durationText(limit.window)}`}</td>
                  <td>
                    <Left limit={limit} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

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
