import { Link } from "@tanstack/react-router";
import { type Channel, useChannels } from "#studio/api/lists.ts";
import { useSession } from "#studio/session/context.tsx";
import { CardSkeleton } from "#studio/ui/card-skeleton.tsx";
import { ErrorState } from "#studio/ui/states.tsx";
import { NoChannels } from "./no-channels.tsx";
import { useLiveChannels } from "./use-live-channels.ts";
import "./channel-list.css";

interface Props {
  /** What is said where there is none. */
  emptyTitle: string;
  /** Also those that the account only moderates. */
  showsModerated?: boolean;
}

/** The channels that the account works with, and which of them are live. */
export function ChannelList({ emptyTitle, showsModerated = false }: Props) {
  const { access } = useSession();
  const channels = useChannels();
  const live = useLiveChannels();
  if (channels.isPending) return <CardSkeleton label="Loading the channels…" />;
  if (channels.isError) return <ErrorState error={channels.error} retry={() => void channels.refetch()} />;
  const isShown = (id: string) => (showsModerated ? access.worksWith(id) : access.managesChannel(id, "read"));
  const own = channels.data.filter(({ _id }) => isShown(_id));
  if (own.length === 0) return <NoChannels title={emptyTitle} />;
  return (
    <ul className="channel-list">
      {own.map((channel) => (
        <ChannelCard key={channel._id} channel={channel} isLive={live.data?.has(channel._id) === true} />
      ))}
    </ul>
  );
}

function ChannelCard({ channel: { _id, name, slug }, isLive }: { channel: Channel; isLive: boolean }) {
  const { access } = useSession();
  return (
    <li>
      <Link to={access.managesChannel(_id, "read") ? `/run/${_id}` : "/moderate"} className="card card-link channel-card">
        <span className="channel-card-head">
          <strong>{name}</strong>
          {isLive && <span className="badge channel-card-live">Live</span>}
        </span>
        <span className="soft mono">{slug}</span>
      </Link>
    </li>
  );
}
