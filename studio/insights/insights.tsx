import { useEffect, useMemo, useState } from "react";
import { useSearch } from "#studio/app/search.ts";
import { choices, useChannels } from "#studio/api/lists.ts";
import { useSession } from "#studio/session/context.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty } from "#studio/ui/states.tsx";
import { ChartPanel } from "./chart-panel.tsx";
import { bucketsOf, participationOf, pollParticipation, revenueByCurrency, sumOf } from "./figures.ts";
import { ParticipationTable } from "./participation-table.tsx";
import { useEngagement, useHistory, useReach, useRevenue } from "./queries.ts";
import { RANGE_NAMES, RANGES, rangeUntil } from "./range.ts";
import { ReachTable } from "./reach-table.tsx";
import "./insights.css";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const VIEWERS = [
  { label: "Most at one moment", look: "area" },
  { label: "Average", look: "line" },
] as const;
const WATCHED = [{ label: "Minutes watched", look: "bars" }] as const;
const ENGAGED = [
  { label: "Votes", look: "area" },
  { label: "Messages", look: "line" },
] as const;
const PAID = [
  { label: "Sold", look: "area" },
  { label: "Donated", look: "line" },
] as const;

/** How many watched, what they saw and did, and what was paid. */
export default function Insights() {
  const [search, setSearch] = useSearch();
  const channels = useChannels();
  const { access } = useSession();
  const options = choices(channels.data).filter(({ value }) => access.managesChannel(value, "read"));
  const chosen = search["channel"] ?? "";
  // A channel admin sees one of the role's channels, a site admin the whole site or any channel.
  const own = options.find(({ value }) => value === chosen) ?? options[0];
  const channelId = access.isSiteAdmin ? chosen : (own?.value ?? "");
  const isAllowed = access.isSiteAdmin || channelId !== "";
  const name = RANGE_NAMES.find((known) => known === search["range"]) ?? "week";
  const minute = useMinute();
  const range = useMemo(() => rangeUntil(name, minute), [name, minute]);
  const isSite = access.isSiteAdmin && channelId === "";

  const history = useHistory(range, channelId, isAllowed);
  const engagement = useEngagement(range, channelId, isAllowed);
  const revenue = useRevenue(range, isSite);
  const reach = useReach(range, channelId, isAllowed);

  const hours = useMemo(() => engagement.data ?? [], [engagement.data]);
  const viewers = useMemo(
    () => (history.data?.points ?? []).map(({ at, peak, average }) => ({ at, values: [peak, average] })),
    [history.data],
  );
  const watched = useMemo(() => bucketsOf(hours, ["watchMinutes"], range.bucketMs), [hours, range.bucketMs]);
  const engaged = useMemo(() => bucketsOf(hours, ["votes", "messages"], range.bucketMs), [hours, range.bucketMs]);
  const currencies = useMemo(() => revenueByCurrency(revenue.data ?? [], range), [revenue.data, range]);
  const per = range.bucketMs === HOUR ? "per hour" : "per day (UTC)";
  const rows = reach.data ?? [];

  if (channels.isSuccess && !isAllowed)
    return (
      <>
        <PageHeader title="Insights" />
        <Empty title="Your role names no channel that exists." icon="insight">
          An admin of the site can give your account a role on one.
        </Empty>
      </>
    );

  return (
    <>
      <PageHeader title="Insights" description="Counted without anything that identifies a viewer, and kept for 400 days." />
      <div className="toolbar">
        <Select
          label="Time"
          value={name}
          onChange={(range) => setSearch({ range })}
          options={RANGE_NAMES.map((value) => ({ value, text: RANGES[value].text }))}
        />
        <Select
          label="Channel"
          value={channelId}
          onChange={(channel) => setSearch({ channel })}
          options={access.isSiteAdmin ? [{ value: "", text: "All channels" }, ...options] : options}
          isLoading={channels.isPending}
        />
      </div>
      <dl className="figures" aria-label="Totals">
        <Figure label="Most viewers at one moment" value={history.data?.peak?.viewers ?? (history.data ? 0 : null)} />
        <Figure label="Hours watched" value={engagement.data ? Math.round(sumOf(hours, "watchMinutes") / 60) : null} />
        <Figure label="Viewers, day by day" value={engagement.data ? sumOf(hours, "newViewers") : null} />
        <Figure label="Votes" value={engagement.data ? sumOf(hours, "votes") : null} note={participationText(participationOf(hours))} />
        {isSite &&
          currencies.map(({ currency, net }) => <Figure key={currency} label={`Revenue, ${currency.toUpperCase()}`} value={net} />)}
      </dl>
      <div className="charts">
        <ChartPanel title="Viewers" description="Connected at the same time." series={VIEWERS} points={viewers} query={history} />
        <ChartPanel
          title="Watch time"
          description={`Minutes of all viewers together, ${per}.`}
          series={WATCHED}
          points={watched}
          query={engagement}
        />
        <ChartPanel
          title="Participation"
          description={`Responses to polls and chat messages, ${per}.`}
          series={ENGAGED}
          points={engaged}
          query={engagement}
        />
        {isSite && currencies.length === 0 && (
          <ChartPanel title="Revenue" description="Paid per day (UTC)." series={PAID} points={[]} query={revenue} />
        )}
        {isSite &&
          currencies.map(({ currency, refunded, points }) => (
            <ChartPanel
              key={currency}
              title={`Revenue in ${currency.toUpperCase()}`}
              description={`Paid per day (UTC). ${refunded} of it has been refunded.`}
              series={PAID}
              points={points}
              query={revenue}
            />
          ))}
        <ParticipationTable polls={pollParticipation(rows)} query={reach} />
        <ReachTable title="Reach of broadcasts" rows={rows.filter(({ kind }) => kind === "broadcast")} query={reach} />
        <ReachTable title="Reach of content" rows={rows.filter(({ kind }) => kind !== "broadcast" && kind !== "poll")} query={reach} />
      </div>
    </>
  );
}

function Figure({ label, value, note }: { label: string; value: number | string | null; note?: string | undefined }) {
  return (
    <div className="card figure">
      <dt>{label}</dt>
      <dd>
        <strong>{typeof value === "number" ? value.toLocaleString("en-GB") : (value ?? "…")}</strong>
        {note !== undefined && <span className="soft">{note}</span>}
      </dd>
    </div>
  );
}

function participationText(percent: number | null): string | undefined {
  return percent === null ? undefined : `${String(percent)}% of the polls shown`;
}

/** The present minute, so that a screen that stays open moves on. */
function useMinute(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE);
    return () => clearInterval(timer);
  }, []);
  return now;
}
