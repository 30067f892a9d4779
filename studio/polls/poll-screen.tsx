import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { done } from "#sdk/client/index.ts";
import { useParam } from "#studio/app/param.ts";
import { useSession } from "#studio/session/context.tsx";
import { changedText } from "#studio/resources/cell.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { Button } from "#studio/ui/button.tsx";
import { DeleteDialog } from "#studio/ui/delete-dialog.tsx";
import { FormSkeleton } from "#studio/ui/form-skeleton.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import type { Poll } from "./draft.ts";
import { LivePoll } from "./live-poll.tsx";
import { PollForm } from "./poll-form.tsx";
import { type LoadedPoll, POLLS_LIST, pollKey, readPoll } from "./queries.ts";
import "./polls.css";

/** A poll: what it asks, and what viewers answer. */
export default function PollScreen() {
  const id = useParam("id");
  return (
    <>
      <BackLink to="/polls">Polls</BackLink>
      {id === "" ? <NewPoll /> : <ExistingPoll key={id} id={id} />}
    </>
  );
}

function NewPoll() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <>
      <PageHeader title="New poll" description="Viewers see it in the panels that include it, and in overlays." />
      <PollForm
        loaded={null}
        onSaved={({ item: poll }) => {
          toast("The poll has been created.");
          void queries.invalidateQueries({ queryKey: POLLS_LIST });
          void navigate({ to: `/polls/${poll._id}` });
        }}
      />
    </>
  );
}

function ExistingPoll({ id }: { id: string }) {
  const { client } = useSession();
  const poll = useQuery({
    queryKey: pollKey(id),
    queryFn: () => readPoll(client, id),
    // It may be opened, closed or settled by a rundown, a rule or somebody else.
    refetchInterval: 3_000,
    staleTime: 0,
  });
  if (poll.data) return <OpenPoll loaded={poll.data} isOffline={poll.isError} />;
  return poll.isError ? <ErrorState error={poll.error} retry={() => void poll.refetch()} /> : <FormSkeleton label="Loading the poll…" />;
}

function OpenPoll({ loaded, isOffline }: { loaded: LoadedPoll; isOffline: boolean }) {
  const { access } = useSession();
  const queries = useQueryClient();
  const [isDeleting, setDeleting] = useState(false);
  const { item: poll } = loaded;
  const show = (next: LoadedPoll) => {
    queries.setQueryData<LoadedPoll>(pollKey(poll._id), next);
    void queries.invalidateQueries({ queryKey: POLLS_LIST });
  };
  return (
    <>
      <PageHeader title={poll.name} description={changedText(poll.modified)}>
        {access.writesSite && <Button onPress={() => setDeleting(true)}>Delete…</Button>}
      </PageHeader>
      <div className="poll-columns">
        <LivePoll loaded={loaded} isOffline={isOffline} onChanged={show} />
        <PollForm
          loaded={loaded}
          onSaved={(next) => {
            toast("Saved.");
            show(next);
          }}
        />
      </div>
      {isDeleting && <DeletePoll poll={poll} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeletePoll({ poll, onClose }: { poll: Poll; onClose: () => void }) {
  const { client } = useSession();
  return (
    <DeleteDialog
      noun="poll"
      remove={() => done(client.api.DELETE("/poll/v3/{id}", { params: { path: { id: poll._id } } }))}
      list={POLLS_LIST}
      screen="/polls"
      onClose={onClose}
    >
      <strong>{poll.name}</strong> is deleted with all its responses. What viewers have paid for them is refunded, unless it is settled.
    </DeleteDialog>
  );
}
