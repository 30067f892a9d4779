import { useQuery } from "@tanstack/react-query";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { PollBars } from "#studio/polls/poll-bars.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { LIVE_MS } from "./use-chat.ts";
import "./polls.css";

const LIMIT = 20;

/** The polls that are open, with their votes as they come in. */
export function Polls() {
  const { client } = useSession();
  const polls = useQuery({
    queryKey: ["open-polls"],
    queryFn: () => ok(client.api.GET("/poll/v3", { params: { query: { open: true, limit: LIMIT } } })),
    refetchInterval: 2 * LIVE_MS,
    staleTime: 0,
  });
  if (polls.isPending) return <Loading label="Loading the polls…" />;
  if (!polls.data) return <ErrorState error={polls.error} retry={() => void polls.refetch()} />;
  if (polls.data.results.length === 0)
    return (
      <Empty title="No poll is open." icon="poll">
        Polls appear here as soon as they open.
      </Empty>
    );
  return (
    <ul className="open-polls">
      {polls.data.results.map((poll) => (
        <OpenPoll key={poll._id} poll={poll} />
      ))}
    </ul>
  );
}

function OpenPoll({ poll }: { poll: Schemas["Poll"] }) {
  const { client } = useSession();
  const results = useQuery({
    queryKey: ["open-poll", poll._id],
    queryFn: () => ok(client.api.GET("/poll/v3/{id}/results", { params: { path: { id: poll._id } } })),
    refetchInterval: LIVE_MS,
    staleTime: 0,
  });
  return (
    <li className="card open-poll">
      <h2>{poll.question}</h2>
      {results.isError && <p className="field-error">{errorText(results.error)}</p>}
      <PollBars poll={poll} results={results.data} />
    </li>
  );
}
