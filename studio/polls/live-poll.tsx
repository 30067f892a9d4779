import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useNow } from "#studio/ui/use-now.ts";
import { isOutdated } from "#sdk/client/latest.ts";
import { countdown } from "#studio/run/desk.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText, Loading } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { PollBars } from "./poll-bars.tsx";
import { STAGE_NAMES, stageOf, TYPE_NAMES } from "./draft.ts";
import type { LoadedPoll } from "./queries.ts";
import { changePoll } from "./save-poll.ts";
import { SettleDialog } from "./settle-dialog.tsx";

interface Props {
  loaded: LoadedPoll;
  isOffline: boolean;
  onChanged: (next: LoadedPoll) => void;
}

/** Minutes after which a poll can be locked from here. */
const LOCKS = [1, 2, 5];

/** What viewers answer, as it comes in, and what opens, locks and settles the poll. */
export function LivePoll({ loaded, isOffline, onChanged }: Props) {
  const { client, access } = useSession();
  const now = useNow(500);
  const [isSettling, setSettling] = useState(false);
  const { item: poll } = loaded;
  const path = { id: poll._id };
  const results = useQuery({
    queryKey: ["poll-results", poll._id],
    queryFn: () => ok(client.api.GET("/poll/v3/{id}/results", { params: { path } })),
    refetchInterval: poll.open ? 1_000 : 10_000,
    staleTime: 0,
  });
  const change = useMutation({
    mutationFn: (body: { open?: boolean; locksAt?: number | null }) => changePoll(client, loaded, body),
    onSuccess: onChanged,
    onError: (error) =>
      toast(isOutdated(error) ? "Somebody else has changed the poll. Look again, and repeat it." : errorText(error), "danger"),
  });
  const stage = stageOf(poll);
  const left = poll.open ? countdown(poll.locksAt, now) : null;
  return (
    <section className="card poll-live sheet" aria-labelledby="live">
      <div className="poll-live-head">
        <h2 id="live">Live</h2>
        <span className={`badge badge-${stage}`} role="status">
          {STAGE_NAMES[stage]}
        </span>
        {left !== null && (
          <span className="poll-lock">
            locks in <strong>{left}</strong>
          </span>
        )}
      </div>
      <p className="poll-question">{poll.question}</p>
      <p className="soft">
        {TYPE_NAMES[poll.type]}
        {poll.hideResults && " · viewers see no counts until it closes"}
        {poll.responseCost > 0 && ` · a response costs ${poll.responseCost.toLocaleString("en-GB")}`}
      </p>
      {(isOffline || results.isError) && <Notice tone="danger">The server can&apos;t be reached. The counts may be out of date.</Notice>}
      {results.isPending ? <Loading label="Counting…" /> : <PollBars poll={poll} results={results.data} />}
      {access.writesSite && (
        <div className="poll-actions" role="group" aria-label="Poll">
          {stage !== "settled" && (
            <Button
              look={poll.open ? "secondary" : "primary"}
              isPending={change.isPending}
              onPress={() => change.mutate({ open: !poll.open, ...(!poll.open && isPast(poll.locksAt) && { locksAt: null }) })}
            >
              {poll.open ? "Close" : "Open"}
            </Button>
          )}
          {poll.open &&
            (poll.locksAt === null ? (
              LOCKS.map((minutes) => (
                <Button
                  key={minutes}
                  isDisabled={change.isPending}
                  onPress={() => change.mutate({ locksAt: Date.now() + minutes * 60_000 })}
                >
                  {`Lock in ${String(minutes)} min`}
                </Button>
              ))
            ) : (
              <Button isDisabled={change.isPending} onPress={() => change.mutate({ locksAt: null })}>
                Don&apos;t lock
              </Button>
            ))}
          {poll.type !== "poll" && poll.answers.length > 0 && (
            <Button look={stage === "closed" ? "primary" : "secondary"} onPress={() => setSettling(true)}>
              {stage === "settled" ? "Correct the outcome…" : "Settle…"}
            </Button>
          )}
        </div>
      )}
      {isSettling && <SettleDialog loaded={loaded} results={results.data} onClose={() => setSettling(false)} onSettled={onChanged} />}
    </section>
  );
}

function isPast(at: number | null): boolean {
  return at !== null && at <= Date.now();
}
