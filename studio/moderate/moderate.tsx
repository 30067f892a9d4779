import { useState } from "react";
import { type Channel, choices, useChannels } from "#studio/api/lists.ts";
import { NoChannels } from "#studio/run/no-channels.tsx";
import { useSession } from "#studio/session/context.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import { recall, remember } from "#studio/ui/storage.ts";
import { Bans } from "./bans.tsx";
import { ChatQueue } from "./chat-queue.tsx";
import { Polls } from "./polls.tsx";
import { Questions } from "./questions.tsx";
import { Room } from "./room.tsx";
import { Tabs } from "./tabs.tsx";
import { Chat } from "./chat.tsx";
import { QUEUE_LIMIT, useChatDecisions, useQueue } from "./use-chat.ts";
import { useWaitingQuestions } from "./use-questions.ts";
import "./moderate.css";

const STORED = "tifo.studio.moderate.channel";
const TITLES = { queue: "Queue", chat: "Chat", questions: "Questions", polls: "Polls", bans: "Bans", room: "Room" } as const;
type View = keyof typeof TITLES;

/** The channels that the account moderates, and what is to do there. */
export default function Moderate() {
  const { access } = useSession();
  const channels = useChannels();
  if (!channels.data) {
    return (
      <>
        <PageHeader title="Moderate" />
        {channels.isError ? (
          <ErrorState error={channels.error} retry={() => void channels.refetch()} />
        ) : (
          <Loading label="Loading the channels…" />
        )}
      </>
    );
  }
  const scopes = ["Chat_Moderator", "Question_Answer_Moderator"] as const;
  const own = channels.data.filter(({ _id }) => scopes.some((scope) => access.moderates(scope, _id, "read")));
  if (own.length === 0) {
    return (
      <>
        <PageHeader title="Moderate" />
        <NoChannels title="There is no channel that you can moderate." />
      </>
    );
  }
  return <Desk channels={own} />;
}

function Desk({ channels }: { channels: readonly Channel[] }) {
  const { access } = useSession();
  const [chosen, setChosen] = useState(() => recall(sessionStorage, STORED) ?? "");
  const channel = channels.find(({ _id }) => _id === chosen) ?? (channels.length === 1 ? channels[0] : undefined);
  const moderatesChat = access.moderated("Chat_Moderator", "read").length > 0;
  const moderatesQuestions = access.moderated("Question_Answer_Moderator", "read").length > 0;
  const isReadOnly = (["Chat_Moderator", "Question_Answer_Moderator"] as const).every(
    (scope) => access.moderated(scope, "write").length === 0,
  );
  const views: View[] = [
    ...(moderatesChat ? (["queue", "chat"] as const) : []),
    ...(moderatesQuestions ? (["questions"] as const) : []),
    "polls",
    ...(moderatesChat ? (["bans", "room"] as const) : []),
  ];
  const [view, setView] = useState<View>(() => views[0] ?? "polls");
  const queue = useQueue(channel?._id ?? null, moderatesChat);
  const decisions = useChatDecisions();
  const waiting = useWaitingQuestions(moderatesQuestions ? (channel?._id ?? null) : null);
  const counts: Partial<Record<View, string>> = {
    ...(queue.data && { queue: queue.data.hasMore ? `${QUEUE_LIMIT}+` : String(queue.data.entries.length) }),
    ...(waiting !== null && { questions: waiting }),
  };
  const choose = (id: string): void => {
    setChosen(id);
    remember(sessionStorage, STORED, id);
  };
  const name = (id: string) => channels.find((one) => one._id === id)?.name ?? "A channel";

  return (
    <div className="moderate">
      <PageHeader title="Moderate" description={isReadOnly ? "Your role only reads: you can look, but decide on nothing." : undefined}>
        <Select
          label="Channel"
          value={channel?._id ?? ""}
          onChange={choose}
          options={[...(channels.length > 1 ? [{ value: "", text: "All channels" }] : []), ...choices(channels)]}
        />
      </PageHeader>
      <Tabs label="Moderate" tabs={views.map((id) => ({ id, title: TITLES[id], count: counts[id] }))} selected={view} onSelect={setView}>
        {view === "queue" && <ChatQueue queue={queue} decisions={decisions} nameOf={name} isSingle={channel !== undefined} />}
        {view === "bans" && <Bans decisions={decisions} nameOf={name} />}
        {view === "polls" && <Polls />}
        {(view === "chat" || view === "questions" || view === "room") &&
          (channel ? (
            <OfChannel key={channel._id} view={view} channel={channel} decisions={decisions} />
          ) : (
            <Empty title="Choose a channel." icon="channel">
              This is about one channel at a time.
            </Empty>
          ))}
      </Tabs>
    </div>
  );
}

interface OfChannelProps {
  view: "chat" | "questions" | "room";
  channel: Channel;
  decisions: ReturnType<typeof useChatDecisions>;
}

function OfChannel({ view, channel, decisions }: OfChannelProps) {
  if (view === "chat") return <Chat channel={channel} decisions={decisions} />;
  return view === "questions" ? <Questions channelId={channel._id} /> : <Room channelId={channel._id} />;
}
