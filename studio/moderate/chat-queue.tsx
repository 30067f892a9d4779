import type { UseQueryResult } from "@tanstack/react-query";
import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { type Entry, undecided } from "./desk.ts";
import { MessageDesk } from "./message-desk.tsx";
import type { ChatDecisions } from "./use-chat.ts";

interface Props {
  queue: UseQueryResult<{ entries: Entry[]; hasMore: boolean }>;
  decisions: ChatDecisions;
  nameOf: (channelId: string) => string;
  /** Whether all entries are of one channel, which then needs no name. */
  isSingle: boolean;
}

/** Held and reported messages, longest waiting first. */
export function ChatQueue({ queue, decisions, nameOf, isSingle }: Props) {
  if (queue.isPending) return <Loading label="Loading the queue…" />;
  if (!queue.data) return <ErrorState error={queue.error} retry={() => void queue.refetch()} />;
  const entries = undecided(queue.data.entries, decisions.decided);
  return (
    <>
      {queue.isError && <Notice tone="danger">{errorText(queue.error)} The queue may be out of date; it is read again by itself.</Notice>}
      <MessageDesk
        label="Messages that wait"
        entries={entries}
        decisions={decisions}
        channelName={isSingle ? null : nameOf}
        empty={
          <Empty title="Nothing waits for a decision." icon="chat">
            Held and reported messages appear here by themselves.
          </Empty>
        }
        note={queue.data.hasMore ? "These have waited longest. More follow as you decide." : null}
      />
    </>
  );
}
