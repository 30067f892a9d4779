import { useInfiniteQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { useNow } from "#studio/ui/use-now.ts";
import { Button } from "#studio/ui/button.tsx";
import { DataTable } from "#studio/ui/data-table.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import { type Ban, isOver } from "./desk.ts";
import { useAccountName } from "./names.ts";
import type { ChatDecisions } from "./use-chat.ts";

interface Props {
  decisions: ChatDecisions;
  nameOf: (channelId: string) => string;
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** Bans and mutes of all channels that the account moderates, newest first. */
export function Bans({ decisions, nameOf }: Props) {
  const { client } = useSession();
  const now = useNow(10_000);
  const bans = useInfiniteQuery({
    queryKey: ["chat-bans"],
    queryFn: ({ pageParam }) => {
      const query = { limit: 50, offset: pageParam };
      return ok(client.api.GET("/chat/v1/bans", { params: { query } }));
    },
    initialPageParam: 0,
    getNextPageParam: ({ pagination }, pages) => (pagination.next === null ? undefined : 50 * pages.length),
    staleTime: 0,
  });
  if (bans.isPending) return <Loading label="Loading the bans…" />;
  if (!bans.data) return <ErrorState error={bans.error} retry={() => void bans.refetch()} />;
  const rows = bans.data.pages.flatMap(({ results }) => results);
  if (rows.length === 0)
    return (
      <Empty title="Nobody is banned or muted." icon="people">
        Ban somebody from one of their messages.
      </Empty>
    );
  return (
    <>
      <DataTable
        label="Bans and mutes"
        rows={rows}
        keyOf={({ _id }) => _id}
        columns={[
          { title: "Who", kind: "heading", cell: (ban) => <Who ban={ban} /> },
          { title: "Kind", cell: ({ kind }) => (kind === "ban" ? "Ban" : "Mute") },
          { title: "Where", cell: ({ channelId }) => (channelId === null ? "Every channel" : nameOf(channelId)) },
          { title: "Until", cell: (ban) => untilOf(ban, now) },
          { title: "Reason", kind: "prose", cell: ({ reason }) => (reason === "" ? "–" : reason) },
          { title: "Actions", kind: "actions", cell: (ban) => <Lift ban={ban} onLift={() => void decisions.lift(ban._id)} /> },
        ]}
      />
      {bans.hasNextPage && (
        <div className="table-footer">
          <Button isPending={bans.isFetchingNextPage} onPress={() => void bans.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

function untilOf(ban: Ban, now: number): string {
  if (ban.until === null) return "Until it is lifted";
  return isOver(ban, now) ? `Over since ${TIME.format(ban.until)}` : TIME.format(ban.until);
}

function Who({ ban }: { ban: Ban }) {
  const name = useAccountName(ban.accountId);
  return (
    <>
      {name ?? ban.accountId ?? ban.deviceId ?? ""}
      {name === null && <span className="soft"> {ban.deviceId === null ? "(account)" : "(device)"}</span>}
    </>
  );
}

function Lift({ ban, onLift }: { ban: Ban; onLift: () => void }) {
  const { access } = useSession();
  const who = useAccountName(ban.accountId) ?? ban.accountId ?? ban.deviceId ?? "";
  const place = ban.channelId;
  const canLift =
    place === null ? access.moderated("Chat_Moderator", "write") === "all" : access.moderates("Chat_Moderator", place, "write");
  return canLift ? (
    <Button size="small" onPress={onLift} aria-label={`Lift the ${ban.kind} of ${who}`}>
      Lift
    </Button>
  ) : null;
}
