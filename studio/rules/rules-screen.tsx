import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useSession } from "#studio/session/context.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import "#studio/ui/table.css";
import { actionText, conditionText, type Rule } from "./draft.ts";
import { DeleteRules } from "./delete-rules.tsx";
import { DryRun } from "./dry-run.tsx";
import { useChannels, usePolls, useRules, useTemplates } from "./queries.ts";
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
  const selection: Selection = { ticked, onChange: setTicked };
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
      {rules.isPending && <Loading label="Loading the rules…" />}
      {rules.isError && <ErrorState error={rules.error} retry={() => void rules.refetch()} />}
      {rules.data?.length === 0 && <Empty title="There are no rules yet.">A first one: when the score changes, show the scoreboard.</Empty>}
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

interface Selection {
  /** The ids of the rules that are ticked. */
  ticked: ReadonlySet<string>;
  onChange: (ticked: ReadonlySet<string>) => void;
}

function RuleTable({ rules, selection }: { rules: readonly Rule[]; selection?: Selection }) {
  const names = useNames();
  return (
    <div className="table-frame">
      <table className="table rule-table" aria-label="Rules">
        <thead>
          <tr>
            {selection && (
              <th scope="col" className="rule-pick">
                <Tick label="All rules" ids={rules.map(({ _id }) => _id)} {...selection} />
              </th>
            )}
            <th scope="col">Rule</th>
            <th scope="col">When</th>
            <th scope="col">Does</th>
            <th scope="col">Channel</th>
            <th scope="col">On</th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule) => (
            <tr key={rule._id}>
              {selection && (
                <td className="rule-pick">
                  <Tick label={rule.name} ids={[rule._id]} {...selection} />
                </td>
              )}
              <th scope="row">
                <Link to={`/rules/${rule._id}`}>{rule.name}</Link>
                {rule.clientRule && <span className="badge rule-client">In viewers’ pages</span>}
              </th>
              <td>{conditionText(rule.jsonRule)}</td>
              <td>{actionText(rule.jsonRule, names)}</td>
              <td>{rule.channelId === null ? "Whole site" : (names(rule.channelId) ?? "–")}</td>
              <td>
                <RuleSwitch rule={rule} isLabelHidden />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Ticks these rules, or none of them. */
function Tick({ label, ids, ticked, onChange }: Selection & { label: string; ids: readonly string[] }) {
  const isTicked = ids.length > 0 && ids.every((id) => ticked.has(id));
  return (
    <input
      type="checkbox"
      className="rule-tick"
      aria-label={`Select ${label}`}
      checked={isTicked}
      onChange={() => onChange(isTicked ? new Set([...ticked].filter((id) => !ids.includes(id))) : new Set([...ticked, ...ids]))}
    />
  );
}

/** What the ids of rules stand for. */
function useNames(): (id: string) => string | undefined {
  const templates = useTemplates();
  const channels = useChannels();
  const polls = usePolls();
  const all = [...(templates.data ?? []), ...(channels.data ?? []), ...(polls.data ?? [])];
  const names = new Map(all.map(({ _id, name }) => [_id, name]));
  return (id) => names.get(id);
}
