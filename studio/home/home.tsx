import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { opensFirstRun } from "#studio/first-run/progress.ts";
import { useSession } from "#studio/session/context.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { NoChannels } from "#studio/run/no-channels.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import "./home.css";

const FirstRun = lazy(() => import("#studio/first-run/first-run.tsx"));

/** The channels that the account works with, and what each is for; on an empty site, its set-up. */
export default function Home() {
  const { client, account, access } = useSession();
  const channels = useQuery({
    queryKey: ["channels", "overview"],
    queryFn: () => ok(client.api.GET("/page/v2/channel", { params: { query: { limit: 100, sortBy: "data.name", sortDirection: 1 } } })),
  });
  const site = useQuery({
    queryKey: ["site"],
    queryFn: () => ok(client.api.GET("/site/v1")),
    staleTime: 60_000,
    enabled: access.writesSite,
  });
  const isOpen = site.data !== undefined && channels.data !== undefined && opensFirstRun(site.data.settings, channels.data.results.length);
  // What it says at its end is shown until the screen is left.
  const [isShown, setShown] = useState(false);
  if (isOpen && !isShown && access.writesSite) setShown(true);
  if (access.writesSite && isShown && site.data) {
    return (
      <Suspense fallback={<Loading />}>
        <FirstRun site={site.data} onClose={() => setShown(false)} />
      </Suspense>
    );
  }
  if (access.writesSite && site.isPending) return <Loading />;
  const own = channels.data?.results.filter(({ _id }) => access.isModerator || access.managesChannel(_id, "read"));
  return (
    <>
      <PageHeader title={`Hello, ${account.name}`} description={access.title} />
      <section aria-labelledby="channels">
        <h2 id="channels" className="home-heading">
          Channels
        </h2>
        {channels.isPending && <Loading label="Loading the channels…" />}
        {channels.isError && <ErrorState error={channels.error} retry={() => void channels.refetch()} />}
        {own?.length === 0 && <NoChannels title="There are no channels yet." />}
        {own && own.length > 0 && (
          <ul className="home-channels">
            {own.map((channel) => (
              <Channel key={channel._id} channel={channel} />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function Channel({ channel }: { channel: Pick<Schemas["Page"], "_id" | "data" | "slug"> }) {
  const { access } = useSession();
  return (
    <li className="home-channel">
      {access.managesChannel(channel._id, "read") ? (
        <Link to={`/run/${channel._id}`}>{channel.data.name}</Link>
      ) : (
        <strong>{channel.data.name}</strong>
      )}
      {access.isModerator && !access.isAdmin && <Link to="/moderate">Moderate</Link>}
      <span className="soft mono">{channel.slug}</span>
    </li>
  );
}
