import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { pageOfSearch, useSearch } from "#studio/app/search.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Pages } from "#studio/ui/pages.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { useNow } from "#studio/ui/use-now.ts";
import { awayText, canCancel, type ScheduledAction, screenOf, sourceText, stateOf, STATES, verbOf } from "./action.ts";
import "#studio/ui/table.css";
import "./schedule.css";

const PAGE = 25;
const REFRESH_MS = 10_000;
const LIST = ["schedule"] as const;

/** What is shown, opens and closes at a set time, and what became of it. */
export default function Schedule() {
  const [search, setSearch] = useSearch();
  const [cancelling, setCancelling] = useState<ScheduledAction | null>(null);
  const state = stateOf(search["state"]);
  const page = pageOfSearch(search);
  const list = useActions(state, page);
  return (
    <>
      <PageHeader title="Schedule" description="What is shown, opens and closes at a set time, also while nobody has Studio open." />
      <div className="toolbar">
        <Select label="Show" value={state} options={STATES} onChange={(next) => setSearch({ state: next, page: "" })} />
      </div>
      {list.isPending && <Loading label="Loading the schedule…" />}
      {list.isError && !list.data && <ErrorState error={list.error} retry={() => void list.refetch()} />}
      {list.data?.results.length === 0 && <Nothing isPending={state === "pending"} />}
      {list.data && list.data.results.length > 0 && (
        <>
          <ActionTable actions={list.data.results} onCancel={setCancelling} />
          <Pages
            total={list.data.pagination.totalCount}
            page={page}
            size={PAGE}
            shown={list.data.results.length}
            onPage={(next) => setSearch({ page: next === 0 ? "" : String(next + 1) })}
          />
        </>
      )}
      {cancelling && <CancelDialog action={cancelling} onClose={() => setCancelling(null)} />}
    </>
  );
}

function useActions(state: ScheduledAction["state"], page: number) {
  const { client } = useSession();
  // What is to come, the next first; what is over, the last first.
  const query = { state, limit: PAGE, offset: page * PAGE, sortBy: "dueAt", sortDirection: state === "pending" ? 1 : -1 } as const;
  return useQuery({
    queryKey: [...LIST, query],
    queryFn: () => ok(client.api.GET("/schedule/v1", { params: { query } })),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

function Nothing({ isPending }: { isPending: boolean }) {
  if (!isPending) return <Empty title="There is none." />;
  return (
    <Empty title="Nothing is scheduled.">Give a prediction a time to lock, a quest its times, or schedule a broadcast with the API.</Empty>
  );
}

function ActionTable({ actions, onCancel }: { actions: ScheduledAction[]; onCancel: (action: ScheduledAction) => void }) {
  const now = useNow(1000);
  const channels = useChannelNames();
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Scheduled actions">
      <table className="table schedule-table" aria-label="Scheduled actions">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Channel</th>
            <th scope="col">From</th>
            <th scope="col">Note</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {actions.map((action) => (
            <Row
              key={action._id}
              action={action}
              now={now}
              channel={action.channelId === null ? null : (channels.get(action.channelId) ?? action.channelId)}
              onCancel={() => onCancel(action)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  action: ScheduledAction;
  now: number;
  channel: string | null;
  onCancel: () => void;
}

function Row({ action, now, channel, onCancel }: RowProps) {
  const { access, account } = useSession();
  return (
    <tr>
      <td>
        {timeText(action.dueAt)} <span className="soft schedule-away">{awayText(action.dueAt, now)}</span>
      </td>
      <th scope="row">
        {verbOf(action)} <Link to={screenOf(action)}>{action.name}</Link>
      </th>
      <td>{channel ?? "–"}</td>
      <td>{sourceText(action)}</td>
      <td>{action.message ?? "–"}</td>
      <td>
        {canCancel(action, access, account._id) && (
          <Button size="small" onPress={onCancel} aria-label={`Remove: ${verbOf(action)} ${action.name}`}>
            Remove…
          </Button>
        )}
      </td>
    </tr>
  );
}

function CancelDialog({ action, onClose }: { action: ScheduledAction; onClose: () => void }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const cancellation = useMutation({
    mutationFn: () => ok(client.api.DELETE("/schedule/v1/{id}", { params: { path: { id: action._id } } })),
    onSuccess: () => toast("Removed from the schedule."),
    onError: (error) => toast(errorText(error), "danger"),
    async onSettled() {
      await queries.invalidateQueries({ queryKey: LIST });
      onClose();
    },
  });
  return (
    <Confirm
      title="Remove it from the schedule?"
      action="Remove"
      isPending={cancellation.isPending}
      onConfirm={() => cancellation.mutate()}
      onClose={onClose}
    >
      <p>
        {verbOf(action)} <strong>{action.name}</strong> at {timeText(action.dueAt)}.
      </p>
    </Confirm>
  );
}

function useChannelNames(): ReadonlyMap<string, string> {
  const { client } = useSession();
  const channels = useQuery({
    queryKey: ["channels", "names-by-id"],
    queryFn: async () => (await ok(client.api.GET("/page/v2/channel", { params: { query: { limit: 200 } } }))).results,
  });
  return new Map(channels.data?.map(({ _id, data }) => [_id, data.name]));
}
