import { lazy, Suspense } from "react";
import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { KEPT_MINUTES, type Minute, withHistory } from "#studio/run/desk.ts";
import { LatestChat } from "./latest-chat.tsx";
import { OpenPolls } from "./open-polls.tsx";
import "./audience.css";

const AsRun = lazy(() => import("./as-run.tsx"));

interface Props {
  channelId: string;
  rundownId: string | null;
  viewers: number | null;
  minutes: readonly Minute[];
}

/** What viewers do: how many there are, how they vote, what they write, and what of each take has reached them. */
export function Audience({ channelId, rundownId, viewers, minutes }: Props) {
  const history = useHistory(channelId);
  return (
    <section className="card run-audience" aria-labelledby="audience">
      <div className="run-panel-head">
        <h2 id="audience">Audience</h2>
      </div>
      <p className="audience-count">
        <strong>{viewers === null ? "–" : viewers.toLocaleString("en")}</strong> {viewers === 1 ? "viewer" : "viewers"}
        {viewers !== null && <span className="audience-self">including this screen</span>}
      </p>
      <Chart minutes={withHistory(history, minutes)} />
      <OpenPolls />
      <LatestChat channelId={channelId} />
      <Suspense>{rundownId !== null && <AsRun key={rundownId} rundownId={rundownId} channelId={channelId} />}</Suspense>
    </section>
  );
}

/** The minutes before the screen was opened, for those who may read the insights. */
function useHistory(channelId: string): readonly Minute[] {
  const { client, access } = useSession();
  const history = useQuery({
    queryKey: ["run", "history", channelId],
    queryFn: async (): Promise<Minute[]> => {
      const query = { channelId, from: Date.now() - KEPT_MINUTES * 60_000, to: Date.now(), step: "minute" } as const;
      const answer = await ok(client.api.GET("/insights/v1/concurrents/history", { params: { query } }));
      // The type is that of the CSV too.
      return typeof answer === "string" ? [] : answer.points.map(({ at, peak }) => ({ at, peak }));
    },
    enabled: access.isSiteAdmin,
    staleTime: Infinity,
  });
  return history.data ?? [];
}

/** The most viewers of each minute. */
function Chart({ minutes }: { minutes: readonly Minute[] }) {
  const top = Math.max(1, ...minutes.map(({ peak }) => peak));
  const latest = minutes.at(-1);
  return (
    <svg
      className="audience-chart"
      viewBox={`0 0 ${String(KEPT_MINUTES)} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Viewers per minute: ${minutes.length} minutes, at most ${top}, now ${latest?.peak ?? 0}`}
    >
      {minutes.map(({ at, peak }, index) => (
        <rect key={at} x={KEPT_MINUTES - minutes.length + index} y={20 - (peak / top) * 19} width={0.8} height={(peak / top) * 19 + 1} />
      ))}
    </svg>
  );
}
