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
import { type Quest, REWARD_NAMES, STATE_NAMES } from "./draft.ts";
import { QuestForm } from "./quest-form.tsx";
import { type LoadedQuest, questKey, QUESTS_LIST, readQuest } from "./queries.ts";
import { Raffle } from "./raffle.tsx";
import "./quests.css";

/** A quest: its tasks and reward, and the draw of a raffle. */
export default function QuestScreen() {
  const id = useParam("id");
  return (
    <>
      <BackLink to="/quests">Quests</BackLink>
      {id === "" ? <NewQuest /> : <ExistingQuest key={id} id={id} />}
    </>
  );
}

function NewQuest() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <>
      <PageHeader title="New quest" description="Tasks that viewers do during the show, and what they get for it." />
      <QuestForm
        loaded={null}
        onSaved={({ item: quest }) => {
          toast("The quest has been created.");
          void queries.invalidateQueries({ queryKey: QUESTS_LIST });
          void navigate({ to: `/quests/${quest._id}` });
        }}
      />
    </>
  );
}

function ExistingQuest({ id }: { id: string }) {
  const { client } = useSession();
  const quest = useQuery({
    queryKey: questKey(id),
    queryFn: () => readQuest(client, id),
    refetchInterval: 10_000,
    staleTime: 0,
  });
  if (quest.isPending) return <FormSkeleton label="Loading the quest…" />;
  if (!quest.data) return <ErrorState error={quest.error} retry={() => void quest.refetch()} />;
  return <OpenQuest loaded={quest.data} />;
}

function OpenQuest({ loaded }: { loaded: LoadedQuest }) {
  const { access } = useSession();
  const queries = useQueryClient();
  const [isDeleting, setDeleting] = useState(false);
  const { item: quest } = loaded;
  const reread = () => void queries.invalidateQueries({ queryKey: questKey(quest._id) });
  return (
    <>
      <PageHeader title={quest.title} description={changedText(quest.modified)}>
        {access.writesSite && <Button onPress={() => setDeleting(true)}>Delete…</Button>}
      </PageHeader>
      <div className="quest-columns">
        <QuestForm
          loaded={loaded}
          onSaved={(next) => {
            toast("Saved.");
            queries.setQueryData<LoadedQuest>(questKey(quest._id), next);
            void queries.invalidateQueries({ queryKey: QUESTS_LIST });
          }}
        />
        <div className="quest-side">
          <section className="card sheet quest-state" aria-labelledby="quest-state">
            <h2 id="quest-state">Now</h2>
            <p>
              <span className={`badge badge-${quest.state === "open" ? "open" : "closed"}`}>{STATE_NAMES[quest.state]}</span>
            </p>
            <p className="soft">{`${String(quest.actions.length)} ${quest.actions.length === 1 ? "task" : "tasks"} · ${REWARD_NAMES[quest.rewardType].toLowerCase()}`}</p>
            {quest.actions.length === 0 && <p>Without a task, nobody can complete it.</p>}
          </section>
          {quest.raffle && <Raffle quest={quest} raffle={quest.raffle} onDrawn={reread} />}
        </div>
      </div>
      {isDeleting && <DeleteQuest quest={quest} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteQuest({ quest, onClose }: { quest: Quest; onClose: () => void }) {
  const { client } = useSession();
  return (
    <DeleteDialog
      noun="quest"
      remove={() => done(client.api.DELETE("/quest/v2/{id}", { params: { path: { id: quest._id } } }))}
      list={QUESTS_LIST}
      screen="/quests"
      onClose={onClose}
    >
      <strong>{quest.title}</strong> is deleted for everybody; claims stay.
    </DeleteDialog>
  );
}
