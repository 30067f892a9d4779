import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Empty, errorText } from "#studio/ui/states.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import type { Rule } from "./draft.ts";
import type { DryRunResult } from "./queries.ts";
import { momentOf, parseRecording, type Row, rowsOf, type TestedRule } from "./recording.ts";

/** What the API evaluates at once. */
const MOST_EVENTS = 100;

interface Props {
  rules: readonly Rule[];
  isDisabled?: boolean;
}

/** Which event would fire which rule, on the last events or on a recorded match. Nothing is sent. */
export function DryRun({ rules, isDisabled = false }: Props) {
  const { client } = useSession();
  const [onlyFired, setOnlyFired] = useState(false);
  const [recording, setRecording] = useState<{ name: string; events: Record<string, unknown>[]; left: number } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const run = useMutation({
    mutationFn: async (events: Record<string, unknown>[] | undefined): Promise<TestedRule[]> => {
      const tested: TestedRule[] = [];
      // One after the other: a site may have many rules, and the show goes first.
      for (const rule of rules) {
        const params = { path: { id: rule._id } };
        const { results } = await ok(
          client.api.POST("/personalization/v1/automation-rule/{id}/test", { params, body: events ? { events } : {} }),
        );
        tested.push({ rule, results });
      }
      return tested;
    },
  });

  async function open(file: File): Promise<void> {
    setProblem(null);
    const events = parseRecording(await file.text());
    if (events.length === 0) return setProblem("The file has no events: one JSON object a line, or a list of them.");
    const used = events.slice(0, MOST_EVENTS);
    setRecording({ name: file.name, events: used, left: events.length - used.length });
    run.mutate(used);
  }

  return (
    <section className="card rule-dry sheet" aria-labelledby="dry-run">
      <div className="rule-dry-head">
        <div>
          <h2 id="dry-run">Dry run</h2>
          <p className="soft">Which event fires what. Nothing is sent.</p>
        </div>
        <div className="rule-actions">
          <Button
            look="primary"
            isPending={run.isPending}
            isDisabled={isDisabled || rules.length === 0}
            onPress={() => {
              setRecording(null);
              run.mutate(undefined);
            }}
          >
            Run on the last 100 events
          </Button>
          <label className="button button-secondary rule-file">
            Open a recorded match…
            <input
              type="file"
              className="visually-hidden"
              accept=".json,.jsonl,.ndjson,application/json"
              disabled={isDisabled || rules.length === 0}
              onChange={({ target }) => {
                const [file] = target.files ?? [];
                if (file) void open(file);
                target.value = "";
              }}
            />
          </label>
        </div>
      </div>
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      {run.isError && <Notice tone="danger">{errorText(run.error)}</Notice>}
      {recording !== null && recording.left > 0 && (
        <Notice tone="info">{`The first ${String(MOST_EVENTS)} events of ${recording.name}; ${recording.left.toLocaleString("en-GB")} more aren’t evaluated.`}</Notice>
      )}
      {run.data && <Outcome rows={rowsOf(run.data)} onlyFired={onlyFired} onOnlyFired={setOnlyFired} />}
    </section>
  );
}

function Outcome({ rows, onlyFired, onOnlyFired }: { rows: Row[]; onlyFired: boolean; onOnlyFired: (only: boolean) => void }) {
  const firing = rows.filter(({ fired }) => fired.length > 0);
  if (rows.length === 0)
    return (
      <Empty title="No event has been received yet." icon="rule">
        Open a recorded match to see what its events would fire.
      </Empty>
    );
  const shown = onlyFired ? firing : rows;
  return (
    <>
      <div className="rule-dry-head">
        <p role="status">
          <strong>{firing.length}</strong> of {rows.length} {rows.length === 1 ? "event fires" : "events fire"} something.
        </p>
        <Switch label="Only these" isSelected={onlyFired} onChange={onOnlyFired} />
      </div>
      <DataTable
        label="Events and what they fire"
        className="rule-dry-table"
        rows={shown}
        keyOf={({ position }) => String(position)}
        columns={OUTCOME}
      />
    </>
  );
}

const OUTCOME: readonly Column<Row>[] = [
  { title: "#", kind: "number", cell: ({ position }) => position },
  {
    title: "Event",
    cell: ({ event }) => (
      <details>
        <summary>{momentOf(event)}</summary>
        <pre className="rule-json">{JSON.stringify(event, null, 2)}</pre>
      </details>
    ),
  },
  {
    title: "Fires",
    cell: ({ fired, note }) =>
      fired.length === 0 ? <span className="soft">{note ?? "–"}</span> : fired.map((one) => <Fired key={one.rule._id} {...one} />),
  },
];

function Fired({ rule, result }: { rule: Rule; result: DryRunResult }) {
  const { broadcasts, channel, delaySeconds, message } = result;
  const [first] = broadcasts;
  const variables = Object.entries(first?.broadcast.variables ?? {}).slice(0, 4);
  return (
    <div className="rule-fired">
      <strong>{rule.name}</strong>
      <span>
        {first &&
          `Overlay on ${first.channelIds === null ? "every channel" : `${String(first.channelIds.length)} ${first.channelIds.length === 1 ? "channel" : "channels"}`}`}
        {channel && `Creates the channel “${channel.name}”`}
        {!first && !channel && message === null && "Closes the poll"}
        {delaySeconds > 0 && `, ${String(delaySeconds)} s later`}
      </span>
      {variables.length > 0 && <span className="soft">{variables.map(([name, value]) => `${name}: ${String(value)}`).join(" · ")}</span>}
      {message !== null && <span className="rule-problem">{message}</span>}
    </div>
  );
}
