import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { errorText, ErrorState } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { RetractButton } from "./retract-button.tsx";
import { coverage, mergeLog, receiptInterval } from "#studio/run/desk.ts";
import type { AsRunEntry } from "#studio/run/model.ts";
import { useStillLog } from "./use-still-log.ts";
import "./audience.css";

/** Takes that are read at a time; older ones as somebody scrolls to them. */
const PAGE = 50;
/** The height of a receipt until it is measured. */
const ESTIMATED_PX = 104;

interface Log {
  entries: AsRunEntry[];
  /** Where the takes before these are; null if there are none. */
  older: string | null;
}

/** What was taken, newest first, with what of each take has reached the viewers. Only what is in view is in the page. */
export default function AsRun({ rundownId, channelId }: { rundownId: string; channelId: string }) {
  const { log, loadOlder, isLoadingOlder } = useLog(rundownId);
  const entries = log.data?.entries ?? [];
  return (
    <>
      <div className="run-panel-head">
        <h3>As run</h3>
        <Export rundownId={rundownId} />
      </div>
      {log.isError && !log.data && <ErrorState error={log.error} retry={() => void log.refetch()} />}
      {log.data && entries.length === 0 && <p className="soft">Nothing has been taken yet.</p>}
      <Rows channelId={channelId} entries={entries} canLoad={!isLoadingOlder && log.data?.older !== null} onEnd={loadOlder} />
    </>
  );
}

function useLog(rundownId: string) {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isLoadingOlder, setLoadingOlder] = useState(false);
  const key = ["as-run", rundownId];
  const known = () => queries.getQueryData<Log>(key);
  const read = async (cursor?: string): Promise<Log> => {
    const query = { sortBy: "takenAt", sortDirection: -1, limit: PAGE, ...(cursor !== undefined && { cursor }) } as const;
    const page = await ok(client.api.GET("/rundown/v1/{id}/as-run", { params: { path: { id: rundownId }, query } }));
    // The type is that of the export too.
    if (typeof page === "string") return { entries: [], older: null };
    const { next } = page.pagination;
    return { entries: page.results, older: next === null ? null : new URL(next, location.origin).searchParams.get("cursor") };
  };
  const log = useQuery({
    queryKey: key,
    queryFn: async (): Promise<Log> => {
      const page = await read();
      const before = known();
      return { entries: mergeLog(before?.entries ?? [], page.entries), older: before ? before.older : page.older };
    },
    refetchInterval: ({ state }) => receiptInterval((state.data?.entries ?? []).slice(0, PAGE), Date.now()),
    staleTime: 0,
  });
  async function loadOlder(): Promise<void> {
    const cursor = known()?.older;
    if (typeof cursor !== "string") return;
    setLoadingOlder(true);
    try {
      const page = await read(cursor);
      queries.setQueryData<Log>(key, (now) => ({ entries: mergeLog(now?.entries ?? [], page.entries), older: page.older }));
    } catch (error) {
      toast(errorText(error), "danger");
    } finally {
      setLoadingOlder(false);
    }
  }
  return { log, loadOlder: () => void loadOlder(), isLoadingOlder };
}

interface RowsProps {
  channelId: string;
  entries: readonly AsRunEntry[];
  canLoad: boolean;
  onEnd: () => void;
}

function Rows({ channelId, entries, canLoad, onEnd }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer<HTMLDivElement, HTMLLIElement>({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATED_PX,
    getItemKey: (index) => entries[index]?._id ?? index,
    overscan: 6,
  });
  const visible = rows.getVirtualItems();
  const noteScroll = useStillLog(scroller, rows);
  return (
    <div
      ref={scroller}
      className="receipts"
      role="group"
      aria-label="Takes"
      tabIndex={0}
      onScroll={() => {
        noteScroll();
        if (canLoad && (visible.at(-1)?.index ?? 0) >= entries.length - 10) onEnd();
      }}
    >
      <ol aria-label="As run" style={{ blockSize: rows.getTotalSize() }}>
        {visible.map(({ key, index, start }) => {
          const entry = entries[index];
          return (
            entry && (
              <li
                key={key}
                ref={rows.measureElement}
                data-index={index}
                className="receipt"
                style={{ transform: `translateY(${String(start)}px)` }}
                aria-posinset={index + 1}
                aria-setsize={entries.length}
              >
                <Receipt entry={entry} channelId={channelId} />
              </li>
            )
          );
        })}
      </ol>
    </div>
  );
}

function Export({ rundownId }: { rundownId: string }) {
  const { client } = useSession();
  async function download(): Promise<void> {
    const params = { path: { id: rundownId }, query: { format: "csv" } } as const;
    const result = await client.api.GET("/rundown/v1/{id}/as-run", { params, parseAs: "blob" });
    if (!result.response.ok || !(result.data instanceof Blob)) return toast("The log couldn't be exported.", "danger");
    const url = URL.createObjectURL(result.data);
    Object.assign(document.createElement("a"), { href: url, download: `as-run-${rundownId}.csv` }).click();
    URL.revokeObjectURL(url);
  }
  return (
    <Button size="small" look="quiet" onPress={() => void download().catch((error: unknown) => toast(errorText(error), "danger"))}>
      Export
    </Button>
  );
}

const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

function Receipt({ entry, channelId }: { entry: AsRunEntry; channelId: string }) {
  const { access } = useSession();
  const { kind, name, takenAt, by, state, message, clearedAt, receipt, trigger } = entry;
  const reached = coverage(entry);
  const status = [state === "done" ? null : state, clearedAt === null ? null : "cleared", message].filter((part) => part !== null);
  return (
    <>
      <div className="receipt-head">
        <strong>{name}</strong>
        <time dateTime={new Date(takenAt).toISOString()}>{TIME.format(takenAt)}</time>
      </div>
      <div className="receipt-by">
        <p>{[by?.name ?? (trigger === "operator" ? "Deleted operator" : `By ${trigger}`), ...status].join(" · ")}</p>
        {kind === "broadcast" && state === "done" && access.managesChannel(channelId, "write") && (
          <RetractButton entry={entry} channelId={channelId} />
        )}
      </div>
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
    </>
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
