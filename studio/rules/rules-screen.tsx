import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useChannels, usePolls } from "#studio/api/lists.ts";
import { useSession } from "#studio/session/context.tsx";
import { DataTable, type Selection } from "#studio/ui/data-table.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Empty, ErrorState } from "#studio/ui/states.tsx";
import { TableSkeleton } from "#studio/ui/table-skeleton.tsx";
import { actionText, conditionText, deletedTarget, type Rule } from "./draft.ts";
import { DeleteRules } from "./delete-rules.tsx";
import { DryRun } from "./dry-run.tsx";
import { useRules, useTemplates } from "./queries.ts";
import { RuleSwitch } from "./rule-switch.tsx";
import "./rules.css";

/** A dry run of more rules would take too long. */
const MOST_TESTED = 50;

/** What the show does by itself. */
export default function Rules() {
  const { access } = useSession();
  const rules = useRules();
  const [wanted, setWanted] = useState("");
  const shown = rules.data?.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase()));
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const selection: RuleSelection = { ticked, onChange: setTicked };
  const selected = shown?.filter(({ _id }) => ticked.has(_id)) ?? [];
  const tested = rules.data?.filter(({ active, clientRule }) => active && !clientRule) ?? [];
  return (
    <>
      <PageHeader title="Rules" description="When a data provider reports something, the show reacts by itself.">
        {access.writesSite && (
          <Link to="/rules/new" className="button button-primary">
            <Icon name="plus" />
            New rule
          </Link>
        )}
      </PageHeader>
      {rules.isPending && <TableSkeleton label="Loading the rules…" titles={["Rule", "When", "Does", "Channel", "On"]} />}
      {rules.isError && <ErrorState error={rules.error} retry={() => void rules.refetch()} />}
      {rules.data?.length === 0 && (
        <Empty
          title="There are no rules yet."
          icon="rule"
          action={
            access.writesSite && (
              <Link to="/rules/new" className="button button-secondary">
                Create the first rule
              </Link>
            )
          }
        >
          A first one: when the score changes, show the scoreboard.
        </Empty>
      )}
      {shown && rules.data && rules.data.length > 0 && (
        <>
          {rules.data.length > 10 && (
            <div className="toolbar">
              <label className="field">
                <span className="field-label">Search</span>
                <input type="search" className="field-input" value={wanted} onChange={({ target }) => setWanted(target.value)} />
              </label>
            </div>
          )}
          <RuleTable rules={shown} {...(access.writesSite && { selection })} />
          {selected.length > 0 && <DeleteRules rules={selected} onDeleted={() => setTicked(new Set())} />}
          <DryRun rules={tested.slice(0, MOST_TESTED)} />
        </>
      )}
    </>
  );
}

type RuleSelection = Pick<Selection<Rule>, "ticked" | "onChange">;

function RuleTable({ rules, selection }: { rules: readonly Rule[]; selection?: RuleSelection }) {
  const { names, deleted } = useNames();
  return (
    <DataTable
      label="Rules"
      className="rule-table"
      rows={rules}
      keyOf={({ _id }) => _id}
      selection={selection ? { ...selection, nameOf: ({ name }) => name, all: "All rules" } : null}
      columns={[
        {
          title: "Rule",
          kind: "heading",
          cell: ({ _id, name, clientRule }) => (
            <>
              <Link to={`/rules/${_id}`}>{name}</Link>
              {clientRule && <span className="badge rule-client">In viewers’ pages</span>}
            </>
          ),
        },
        { title: "When", cell: ({ jsonRule }) => conditionText(jsonRule) },
        {
          title: "Does",
          cell: ({ jsonRule }) => {
            const target = deleted(jsonRule);
            return (
              <>
                {actionText(jsonRule, names)}
                {target && <span className="badge rule-broken">{target} deleted</span>}
              </>
            );
          },
        },
        { title: "Channel", cell: ({ channelId }) => (channelId === null ? "Whole site" : (names(channelId) ?? "–")) },
        { title: "On", cell: (rule) => <RuleSwitch rule={rule} isLabelHidden /> },
      ]}
    />
  );
}

/** What the ids of rules stand for, and whether what a rule shows or closes has been deleted. */
function useNames() {
  const templates = useTemplates();
  const channels = useChannels();
  const polls = usePolls();
  const all = [...(templates.data ?? []), ...(channels.data ?? []), ...(polls.data ?? [])];
  const byId = new Map(all.map(({ _id, name }) => [_id, name]));
  return {
    names: (id: string) => byId.get(id),
    deleted: (rule: Rule["jsonRule"]) => deletedTarget(rule, { templates: templates.data, polls: polls.data }),
  };
}
