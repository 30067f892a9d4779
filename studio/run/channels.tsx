import { PageHeader } from "#studio/ui/page-header.tsx";
import { ChannelList } from "./channel-list.tsx";

/** Chooses the channel of the show. */
export default function Channels() {
  return (
    <>
      <PageHeader title="Run" description="Choose the channel of the show." />
      <ChannelList emptyTitle="There is no channel that you can run." />
    </>
  );
}
