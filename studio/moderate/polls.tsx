import { useQuery } from "@tanstack/react-query";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { LIVE_MS } from "./use-chat.ts";

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
  const { data } = results;
  return (
    <li className="card open-poll">
      <h2>{poll.question}</h2>
      <p className="soft">{data ? (data.total === 1 ? "1 vote" : `${data.total.toLocaleString("en")} votes`) : "Loading the votes…"}</p>
      {results.isError && <p className="field-error">{errorText(results.error)}</p>}
      {data?.hidden && <p className="soft">Its results are hidden until it closes.</p>}
      <ul className="poll-bars">
        {data?.answers.map(({ answerId, answer, responses, share }) => (
          <li key={answerId}>
            <span className="message-line">
              <span>{answer}</span>
              {share !== undefined && (
                <span className="poll-share">
                  {Math.round(share * 100)} % <span className="soft">({(responses ?? 0).toLocaleString("en")})</span>
                </span>
              )}
            </span>
            <span className="poll-bar" aria-hidden="true">
              <span style={{ inlineSize: `${(share ?? 0) * 100}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </li>
  );
}
