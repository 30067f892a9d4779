import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { PollBars } from "#studio/polls/poll-bars.tsx";
import { useSession } from "#studio/session/context.tsx";
import type { Poll } from "#studio/run/model.ts";

/** Polls that are shown; more than one open at a time is rare. */
const MOST = 2;
const POLLS_MS = 5_000;
const COUNTS_MS = 1_000;

/** What viewers answer in the polls that are open. */
export function OpenPolls() {
  const { client } = useSession();
  const polls = useQuery({
    queryKey: ["run", "open-polls"],
    queryFn: async () => (await ok(client.api.GET("/poll/v3", { params: { query: { open: true, limit: MOST } } }))).results,
    refetchInterval: POLLS_MS,
  });
  if (!polls.data || polls.data.length === 0) return null;
  return (
    <details className="audience-part" open>
      <summary>
        <h3>{polls.data.length === 1 ? "Open poll" : "Open polls"}</h3>
      </summary>
      {polls.data.map((poll) => (
        <OpenPoll key={poll._id} poll={poll} />
      ))}
    </details>
  );
}

function OpenPoll({ poll }: { poll: Poll }) {
  const { client } = useSession();
  const results = useQuery({
    queryKey: ["poll-results", poll._id],
    queryFn: () => ok(client.api.GET("/poll/v3/{id}/results", { params: { path: { id: poll._id } } })),
    refetchInterval: COUNTS_MS,
    staleTime: 0,
  });
  return (
    <div role="group" className="audience-poll" aria-label={poll.name}>
      <p className="audience-poll-question">{poll.question}</p>
      <PollBars poll={poll} results={results.data} />
    </div>
  );
}
