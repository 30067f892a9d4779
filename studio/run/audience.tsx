import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { errorText, ErrorState } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { coverage, type Minute, receiptInterval } from "./desk.ts";
import type { AsRunEntry } from "./model.ts";
import "./audience.css";

/** Takes that are listed; the export has all. */
const SHOWN = 50;

interface Props {
  rundownId: string | null;
  viewers: number | null;
  minutes: readonly Minute[];
}

/** What viewers do: how many there are, and what of each take has reached them. */
export function Audience({ rundownId, viewers, minutes }: Props) {
  return (
    <section className="run-audience" aria-labelledby="audience">
      <div className="run-panel-head">
        <h2 id="audience">Audience</h2>
      </div>
      <p className="audience-count">
        <strong>{viewers === null ? "–" : viewers.toLocaleString("en")}</strong> {viewers === 1 ? "viewer" : "viewers"}
      </p>
      <Chart minutes={minutes} />
      {rundownId !== null && <Receipts key={rundownId} rundownId={rundownId} />}
    </section>
  );
}

/** The most viewers of each minute since the screen was opened. */
function Chart({ minutes }: { minutes: readonly Minute[] }) {
  const top = Math.max(1, ...minutes.map(({ peak }) => peak));
  const latest = minutes.at(-1);
  return (
    <svg
      className="audience-chart"
      viewBox="0 0 60 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={`Viewers per minute: ${minutes.length} minutes, at most ${top}, now ${latest?.peak ?? 0}`}
    >
      {minutes.map(({ at, peak }, index) => (
        <rect key={at} x={60 - minutes.length + index} y={20 - (peak / top) * 19} width={0.8} height={(peak / top) * 19 + 1} />
      ))}
    </svg>
  );
}

function Receipts({ rundownId }: { rundownId: string }) {
  const { client } = useSession();
  const path = { id: rundownId };
  const log = useQuery({
    queryKey: ["as-run", rundownId],
    queryFn: async (): Promise<AsRunEntry[]> => {
      const query = { sortBy: "takenAt", sortDirection: -1, limit: SHOWN } as const;
      const page = await ok(client.api.GET("/rundown/v1/{id}/as-run", { params: { path, query } }));
      // The type is that of the export too.
      return typeof page === "string" ? [] : page.results;
    },
    refetchInterval: ({ state }) => receiptInterval(state.data ?? [], Date.now()),
    staleTime: 0,
  });

  async function download(): Promise<void> {
    const query = { format: "csv" } as const;
    const result = await client.api.GET("/rundown/v1/{id}/as-run", { params: { path, query }, parseAs: "blob" });
    if (!result.response.ok || !(result.data instanceof Blob)) return toast("The log couldn't be exported.", "danger");
    const url = URL.createObjectURL(result.data);
    Object.assign(document.createElement("a"), { href: url, download: `as-run-${rundownId}.csv` }).click();
    URL.revokeObjectURL(url);
  }

  const entries = log.data ?? [];
  return (
    <>
      <div className="run-panel-head">
        <h3>As run</h3>
        <Button size="small" look="quiet" onPress={() => void download().catch((error: unknown) => toast(errorText(error), "danger"))}>
          Export
        </Button>
      </div>
      {log.isError && !log.data && <ErrorState error={log.error} retry={() => void log.refetch()} />}
      {log.data && entries.length === 0 && <p className="soft">Nothing has been taken yet.</p>}
      <ol className="receipts" aria-label="As run">
        {entries.map((entry) => (
          <Receipt key={entry._id} entry={entry} />
        ))}
      </ol>
    </>
  );
}

const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

function Receipt({ entry }: { entry: AsRunEntry }) {
  const { name, takenAt, by, state, message, clearedAt, receipt, trigger } = entry;
  const reached = coverage(entry);
  const status = [state === "done" ? null : state, clearedAt === null ? null : "cleared", message].filter((part) => part !== null);
  return (
    <li className="receipt">
      <div className="receipt-head">
        <strong>{name}</strong>
        <time dateTime={new Date(takenAt).toISOString()}>{TIME.format(takenAt)}</time>
      </div>
      <p className="receipt-by">{[by?.name ?? (trigger === "operator" ? "Deleted operator" : `By ${trigger}`), ...status].join(" · ")}</p>
      {receipt && (
        <>
          <div className="receipt-bar" aria-hidden="true">
            <span style={{ inlineSize: `${(reached ?? 0) * 100}%` }} />
          </div>
          <dl className="receipt-counts">
            <Count name="Sent" value={receipt.sent} />
            <Count name="Received" value={receipt.acknowledged} />
            <Count name="Seen" value={receipt.seen} />
            <Count name="Missing" value={receipt.missing} isProblem={receipt.missing > 0 && entry.isFinal} />
            <Count name="p50" value={receipt.delay.p50} unit="ms" />
            <Count name="p99" value={receipt.delay.p99} unit="ms" />
          </dl>
        </>
      )}
    </li>
  );
}

function Count({ name, value, unit, isProblem = false }: { name: string; value: number | null; unit?: string; isProblem?: boolean }) {
  return (
    <div data-problem={isProblem}>
      <dt>{name}</dt>
      <dd>{value === null ? "–" : `${Math.round(value).toLocaleString("en")}${unit === undefined ? "" : ` ${unit}`}`}</dd>
    </div>
  );
}
