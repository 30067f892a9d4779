import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { opensFirstRun } from "#studio/first-run/progress.ts";
import { useSession } from "#studio/session/context.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ChannelList } from "#studio/run/channel-list.tsx";
import { useChannels } from "#studio/api/lists.ts";
import { Loading } from "#studio/ui/states.tsx";
import { Now } from "./now.tsx";
import "./home.css";

const FirstRun = lazy(() => import("#studio/first-run/first-run.tsx"));

/** What is going on, and the channels that the account works with; on an empty site, its set-up. */
export default function Home() {
  const { client, account, access } = useSession();
  const channels = useChannels();
  const site = useQuery({
    queryKey: ["site"],
    queryFn: () => ok(client.api.GET("/site/v1")),
    staleTime: 60_000,
    enabled: access.writesSite,
  });
  const isOpen = site.data !== undefined && channels.data !== undefined && opensFirstRun(site.data.settings, channels.data.length);
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
  return (
    <>
      <PageHeader title={`Hello, ${account.name}`} description={access.title} />
      <Now />
      <section aria-labelledby="channels">
        <h2 id="channels" className="home-heading">
          Channels
        </h2>
        <ChannelList emptyTitle="There are no channels yet." showsModerated />
      </section>
    </>
  );
}
