import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { done, ok, TifoProblem } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { useParam } from "#studio/app/param.ts";
import { changeLatest, type Loaded } from "#sdk/client/latest.ts";
import { timeText, changedText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { Button } from "#studio/ui/button.tsx";
import { DeleteDialog } from "#studio/ui/delete-dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { FormSkeleton } from "#studio/ui/form-skeleton.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState, errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { draftOf, NEW_RULE, problemsOf, ruleOf } from "./draft.ts";
import { DryRun } from "./dry-run.tsx";
import { readRule, ruleKey, RULES_LIST, type RuleWithLog, useProviders } from "./queries.ts";
import { RuleForm } from "./rule-form.tsx";
import { RuleSwitch } from "./rule-switch.tsx";
import "./rules.css";

type LoadedRule = Loaded<RuleWithLog>;

/** A rule: its form, what it would do, and what it has done. */
export default function RuleScreen() {
  const id = useParam("id");
  return (
    <>
      <BackLink to="/rules">Rules</BackLink>
      {id === "" ? <NewRule /> : <ExistingRule key={id} id={id} />}
    </>
  );
}

/** Somebody else has changed the rule since it was shown. */
class ChangedMeanwhile extends Error {}

/** Whether what the form edits is the same: a rule is also switched on and off elsewhere. */
function isSameRule(one: RuleWithLog, other: RuleWithLog): boolean {
  const edited = ({ name, channelId, jsonRule }: RuleWithLog) => JSON.stringify([name, channelId, jsonRule]);
  return edited(one) === edited(other);
}

function NewRule() {
  const navigate = useNavigate();
  return (
    <>
      <PageHeader title="New rule" description="It is created switched off, so that you can try it first." />
      <Editor loaded={null} onSaved={(id) => void navigate({ to: `/rules/${id}` })} />
    </>
  );
}

function ExistingRule({ id }: { id: string }) {
  const { client } = useSession();
  const rule = useQuery({
    queryKey: ruleKey(id),
    queryFn: () => readRule(client, id),
    refetchInterval: 10_000,
  });
  if (rule.isPending) return <FormSkeleton label="Loading the rule…" />;
  if (!rule.data) return <ErrorState error={rule.error} retry={() => void rule.refetch()} />;
  return <OpenRule loaded={rule.data} />;
}

function OpenRule({ loaded }: { loaded: LoadedRule }) {
  const { access } = useSession();
  const { item: rule } = loaded;
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <PageHeader title={rule.name} description={changedText(rule.modified)}>
        <RuleSwitch rule={rule} />
        {access.writesSite && <Button onPress={() => setDeleting(true)}>Delete…</Button>}
      </PageHeader>
      <div className="rule-columns">
        <Editor loaded={loaded} onSaved={() => toast("Saved.")} />
        <div className="rule-side">
          <DryRun rules={[rule]} isDisabled={rule.clientRule} />
          <Log log={rule.log} />
        </div>
      </div>
      {isDeleting && <DeleteRule rule={rule} onClose={() => setDeleting(false)} />}
    </>
  );
}

function Editor({ loaded, onSaved }: { loaded: LoadedRule | null; onSaved: (id: string) => void }) {
  const { client, access } = useSession();
  const queries = useQueryClient();
  const providers = useProviders();
  const [base, setBase] = useState(loaded);
  const [draft, setDraft] = useState(() => (loaded ? draftOf(loaded.item) : NEW_RULE));
  const [isChanged, setChanged] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string | null>(null);
  // What others change shows while nothing is edited here.
  if (loaded && base && loaded.etag !== base.etag && !isChanged) {
    setBase(loaded);
    setDraft(draftOf(loaded.item));
  }

  async function save(): Promise<void> {
    const provider = providers.data?.find(({ _id }) => _id === draft.providerId);
    const missing = problemsOf(draft, provider);
    setProblems(missing);
    setGeneral(null);
    if (Object.keys(missing).length > 0) return setGeneral("Something is missing.");
    setSaving(true);
    const common = {
      name: draft.name.trim(),
      channelId: draft.channelId === "" ? null : draft.channelId,
      jsonRule: ruleOf(draft, provider, base?.item ?? null),
    };
    try {
      const id = loaded
        ? await update(loaded, common)
        : (await ok(client.api.POST("/personalization/v1/automation-rule", { body: { ...common, active: false }, ...once }))).id;
      setChanged(false);
      await queries.invalidateQueries({ queryKey: RULES_LIST });
      await queries.invalidateQueries({ queryKey: ruleKey(id) });
      onSaved(id);
    } catch (error) {
      await showProblem(error);
    } finally {
      setSaving(false);
    }
  }

  async function update(shown: LoadedRule, body: Pick<RuleWithLog, "name" | "channelId" | "jsonRule">): Promise<string> {
    const id = shown.item._id;
    await changeLatest(
      () => readRule(client, id),
      (latest, headers) => {
        if (!isSameRule(latest, shown.item)) throw new ChangedMeanwhile();
        return ok(client.api.PUT("/personalization/v1/automation-rule/{id}", { params: { path: { id } }, body, headers }));
      },
    );
    return id;
  }

  async function showProblem(error: unknown): Promise<void> {
    // The notice about it appears with the version that is read now.
    if (loaded && error instanceof ChangedMeanwhile) return queries.invalidateQueries({ queryKey: ruleKey(loaded.item._id) });
    const issues = error instanceof TifoProblem ? error.issues : [];
    setProblems(Object.fromEntries(issues.map(({ path, message }) => [path, message])));
    setGeneral(issues.length === 0 ? errorText(error) : `The server objects: ${issues.map(({ message }) => message).join("; ")}`);
  }

  return (
    <form
      className="card rule-editor sheet"
      noValidate
      aria-label="Rule"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <RuleForm
        draft={draft}
        problems={problems}
        isDisabled={!access.writesSite}
        onChange={(change) => {
          setDraft((current) => ({ ...current, ...change }));
          setChanged(true);
        }}
      />
      {general !== null && <Notice tone="danger">{general}</Notice>}
      {isChanged && loaded?.item.active === true && <Notice tone="warning">The rule is on: what you save applies at once.</Notice>}
      {isChanged && base && loaded && !isSameRule(base.item, loaded.item) && (
        <Notice tone="warning">Somebody else has changed this rule. Saving replaces their version; discard your changes to see it.</Notice>
      )}
      {access.writesSite && (
        <div className="rule-actions">
          <Button type="submit" look="primary" isPending={isSaving} isDisabled={loaded !== null && !isChanged}>
            {loaded ? "Save" : "Create"}
          </Button>
          {loaded && isChanged && (
            <Button
              onPress={() => {
                setBase(loaded);
                setDraft(draftOf(loaded.item));
                setChanged(false);
                setProblems({});
              }}
            >
              Discard changes
            </Button>
          )}
        </div>
      )}
    </form>
  );
}

const OUTCOMES: Record<RuleWithLog["log"][number]["outcome"], string> = {
  scheduled: "Waits",
  sent: "Sent",
  created: "Created",
  locked: "Closed",
  failed: "Failed",
  dropped: "Dropped",
};

function Log({ log }: { log: RuleWithLog["log"] }) {
  return (
    <section className="card sheet" aria-labelledby="rule-log">
      <h2 id="rule-log">Last firings</h2>
      {log.length === 0 ? (
        <p className="soft">It hasn’t fired yet.</p>
      ) : (
        <ol className="rule-log">
          {log.map(({ eventId, created, outcome, message }) => (
            <li key={eventId}>
              <span className={`badge rule-outcome-${outcome}`}>{OUTCOMES[outcome]}</span>
              <time dateTime={new Date(created).toISOString()}>{timeText(created)}</time>
              {message !== null && <span className="soft">{message}</span>}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function DeleteRule({ rule, onClose }: { rule: RuleWithLog; onClose: () => void }) {
  const { client } = useSession();
  return (
    <DeleteDialog
      noun="rule"
      remove={() => done(client.api.DELETE("/personalization/v1/automation-rule/{id}", { params: { path: { id: rule._id } } }))}
      list={RULES_LIST}
      screen="/rules"
      onClose={onClose}
    >
      <strong>{rule.name}</strong> stops at once, also for events that wait.
    </DeleteDialog>
  );
}
