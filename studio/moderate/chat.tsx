import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import type { Channel } from "#studio/api/lists.ts";
import { MessageDesk } from "./message-desk.tsx";
import { type ChatDecisions, useRoom } from "./use-chat.ts";

interface Props {
  channel: Channel;
  decisions: ChatDecisions;
}

/** The channel's chat as it is being written, newest first. */
export function Chat({ channel, decisions }: Props) {
  const room = useRoom(channel._id);
  if (room.isPending) return <Loading label="Loading the chat…" />;
  if (!room.data) return <ErrorState error={room.error} retry={() => void room.refetch()} />;
  return (
    <>
      {room.isError && <Notice tone="danger">{errorText(room.error)} The chat may be out of date; it is read again by itself.</Notice>}
      <MessageDesk
        label="Messages"
        entries={room.data}
        decisions={decisions}
        channelName={null}
        empty={
          <Empty title="Nobody has written anything yet." icon="chat">
            Messages appear here by themselves.
          </Empty>
        }
        note={null}
      />
    </>
  );
}
