import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { NoChannels } from "./no-channels.tsx";
import "./channels.css";

/** Chooses the channel of the show. */
export default function Channels() {
  const { client, access } = useSession();
  const channels = useQuery({
    queryKey: ["channels", "run"],
    queryFn: () => ok(client.api.GET("/page/v2/channel", { params: { query: { limit: 200, sortBy: "data.name", sortDirection: 1 } } })),
  });
  const own = channels.data?.results.filter(({ _id }) => access.managesChannel(_id, "read"));
  return (
    <>
      <PageHeader title="Run" description="Choose the channel of the show." />
      {channels.isPending && <Loading label="Loading the channels…" />}
      {channels.isError && <ErrorState error={channels.error} retry={() => void channels.refetch()} />}
      {own?.length === 0 && <NoChannels title="There is no channel that you can run." />}
      {own && own.length > 0 && (
        <ul className="run-channels">
          {own.map(({ _id, data, slug }) => (
            <li key={_id}>
              <Link to={`/run/${_id}`} className="run-channel">
                <strong>{data.name}</strong>
                <span className="soft mono">{slug}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
