import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ok } from "#sdk/client/index.ts";
import { awayText, verbOf } from "#studio/schedule/action.ts";
import { useSession } from "#studio/session/context.tsx";
import { useNow } from "#studio/ui/use-now.ts";

const MINUTE = 60_000;
const REFRESH_MS = 15_000;
/** Beyond that, the number of messages says only that there is much to do. */
const MOST_WAITING = 100;

/** What is going on at the moment, each with the screen that has more of it. */
export function Now() {
  const { access } = useSession();
  return (
    <ul className="home-now" aria-label="Now">
      {access.isSiteAdmin && <Watching />}
      {access.moderated("Chat_Moderator", "read").length > 0 && <Waiting />}
      {access.isAdmin && <OpenPolls />}
      {access.isAdmin && <NextAction />}
    </ul>
  );
}

function Watching() {
  const { client } = useSession();
  const history = useQuery({
    queryKey: ["home", "viewers"],
    queryFn: async () => {
      const to = Math.ceil(Date.now() / MINUTE) * MINUTE;
      const query = { from: to - 60 * MINUTE, to, step: "minute" } as const;
      const read = await ok(client.api.GET("/insights/v1/concurrents/history", { params: { query } }));
      return typeof read === "string" ? null : read;
    },
    refetchInterval: REFRESH_MS,
  });
  // The minute that has just begun may not have been counted yet.
  const latest = history.data?.points.slice(-2).map(({ peak }) => peak) ?? [];
  return (
    <Figure
      to="/insights"
      label="Watching now"
      query={history}
      value={history.data ? countText(Math.max(0, ...latest)) : undefined}
      note={history.data ? `At most ${countText(history.data.peak?.viewers ?? 0)} in the last hour` : undefined}
    />
  );
}

function Waiting() {
  const { client } = useSession();
  const queue = useQuery({
    queryKey: ["home", "queue"],
    queryFn: () => ok(client.api.GET("/chat/v1/queue", { params: { query: { limit: MOST_WAITING } } })),
    refetchInterval: REFRESH_MS,
  });
  const count = queue.data?.results.length;
  const hasMore = typeof queue.data?.next === "string";
  return (
    <Figure
      to="/moderate"
      label="Messages to decide on"
      query={queue}
      value={count === undefined ? undefined : `${String(count)}${hasMore ? "+" : ""}`}
      note={count === 0 ? "Nothing waits" : "Held or reported in the chat"}
    />
  );
}

function OpenPolls() {
  const { client } = useSession();
  const polls = useQuery({
    queryKey: ["home", "polls"],
    queryFn: () => ok(client.api.GET("/poll/v3", { params: { query: { open: true, limit: 1, sortBy: "created", sortDirection: -1 } } })),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Figure
      to="/polls"
      label="Open polls"
      query={polls}
      value={polls.data && countText(polls.data.pagination.totalCount)}
      note={polls.data && (polls.data.results[0]?.name ?? "None takes votes")}
    />
  );
}

function NextAction() {
  const { client } = useSession();
  const now = useNow(REFRESH_MS);
  const actions = useQuery({
    queryKey: ["home", "schedule"],
    queryFn: () => {
      const query = { state: "pending", limit: 1, sortBy: "dueAt", sortDirection: 1 } as const;
      return ok(client.api.GET("/schedule/v1", { params: { query } }));
    },
    refetchInterval: REFRESH_MS,
  });
  const next = actions.data?.results[0];
  return (
    <Figure
      to="/schedule"
      label="Next on the schedule"
      query={actions}
      value={next ? awayText(next.dueAt, now) : actions.data && "–"}
      note={next ? `${verbOf(next)} ${next.name}` : actions.data && "Nothing is scheduled"}
    />
  );
}

function countText(count: number): string {
  return count.toLocaleString("en-GB");
}

interface FigureProps {
  to: string;
  label: string;
  query: Pick<UseQueryResult, "isPending" | "isError" | "data">;
  /** What it is, once it has been read. */
  value: string | undefined;
  note: string | undefined;
}

function Figure({ to, label, query, value = "…", note = "" }: FigureProps) {
  // What has been read before is still worth more than nothing.
  const isUnknown = query.isError && query.data === undefined;
  return (
    <li>
      <Link to={to} className="card card-link home-figure">
        <span className="home-figure-label">{label}</span>
        <strong>{isUnknown ? "–" : value}</strong>
        <span className="home-figure-note">{isUnknown ? "Can't be read at the moment" : note}</span>
      </Link>
    </li>
  );
}
