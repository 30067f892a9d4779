import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useChannels } from "#studio/api/lists.ts";
import { pageOfSearch, useSearch } from "#studio/app/search.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, LiveTable } from "#studio/ui/data-table.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Pages } from "#studio/ui/pages.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { useNow } from "#studio/ui/use-now.ts";
import { awayText, canCancel, type ScheduledAction, screenOf, sourceText, stateOf, STATES, verbOf } from "./action.ts";
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
  const columns = useColumns(setCancelling);
  return (
    <>
      <PageHeader title="Schedule" description="What is shown, opens and closes at a set time, also while nobody has Studio open." />
      <div className="toolbar">
        <Select label="Show" value={state} options={STATES} onChange={(next) => setSearch({ state: next, page: "" })} />
      </div>
      <LiveTable
        label="Scheduled actions"
        noun="the schedule"
        list={list}
        read={list.data?.results ?? null}
        empty={<Nothing isPending={state === "pending"} />}
        keyOf={({ _id }) => _id}
        columns={columns}
      />
      {list.data && list.data.results.length > 0 && (
        <Pages
          total={list.data.pagination.totalCount}
          page={page}
          size={PAGE}
          shown={list.data.results.length}
          onPage={(next) => setSearch({ page: next === 0 ? "" : String(next + 1) })}
        />
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
  if (!isPending) return <Empty title="There is none." icon="clock" />;
  return (
    <Empty title="Nothing is scheduled." icon="clock">
      Give a prediction a time to lock, a quest its times, or schedule a broadcast with the API.
    </Empty>
  );
}

function useColumns(onCancel: (action: ScheduledAction) => void): readonly Column<ScheduledAction>[] {
  const { access, account } = useSession();
  const channels = useChannels();
  const names = new Map(channels.data?.map(({ _id, name }) => [_id, name]));
  return [
    {
      title: "Time",
      cell: ({ dueAt }) => (
        <>
          {timeText(dueAt)} <Away dueAt={dueAt} />
        </>
      ),
    },
    {
      title: "What",
      kind: "heading",
      cell: (action) => (
        <>
          {verbOf(action)} <Link to={screenOf(action)}>{action.name}</Link>
        </>
      ),
    },
    { title: "Channel", cell: ({ channelId }) => (channelId === null ? "–" : (names.get(channelId) ?? channelId)) },
    { title: "From", cell: sourceText },
    { title: "Note", cell: ({ message }) => message ?? "–" },
    {
      title: "Actions",
      kind: "actions",
      cell: (action) =>
        canCancel(action, access, account._id) && (
          <Button size="small" onPress={() => onCancel(action)} aria-label={`Remove: ${verbOf(action)} ${action.name}`}>
            Remove…
          </Button>
        ),
    },
  ];
}

/** How far away it is, which follows the clock. */
function Away({ dueAt }: { dueAt: number }) {
  return <span className="soft schedule-away">{awayText(dueAt, useNow(1000))}</span>;
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
