import { useInfiniteQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { useNow } from "#studio/ui/use-now.ts";
import { Button } from "#studio/ui/button.tsx";
import { Empty, ErrorState, Loading } from "#studio/ui/states.tsx";
import { type Ban, isOver } from "./desk.ts";
import { useAccountName } from "./names.ts";
import type { ChatDecisions } from "./use-chat.ts";
import "#studio/ui/table.css";

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
  if (rows.length === 0) return <Empty title="Nobody is banned or muted.">Ban somebody from one of their messages.</Empty>;
  return (
    <>
      <div className="table-frame">
        <table className="table" aria-label="Bans and mutes">
          <thead>
            <tr>
              <th scope="col">Who</th>
              <th scope="col">Kind</th>
              <th scope="col">Where</th>
              <th scope="col">Until</th>
              <th scope="col">Reason</th>
              <th scope="col">Actions</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((ban) => (
              <Row key={ban._id} ban={ban} now={now} nameOf={nameOf} onLift={() => void decisions.lift(ban._id)} />
            ))}
          </tbody>
        </table>
      </div>
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

interface RowProps {
  ban: Ban;
  now: number;
  nameOf: (channelId: string) => string;
  onLift: () => void;
}

function Row({ ban, now, nameOf, onLift }: RowProps) {
  const { access } = useSession();
  const name = useAccountName(ban.accountId);
  const who = name ?? ban.accountId ?? ban.deviceId ?? "";
  const place = ban.channelId;
  const canLift =
    place === null ? access.moderated("Chat_Moderator", "write") === "all" : access.moderates("Chat_Moderator", place, "write");
  return (
    <tr>
      <th scope="row">
        {who}
        {name === null && <span className="soft"> {ban.deviceId === null ? "(account)" : "(device)"}</span>}
      </th>
      <td>{ban.kind === "ban" ? "Ban" : "Mute"}</td>
      <td>{place === null ? "Every channel" : nameOf(place)}</td>
      <td>
        {ban.until === null ? "Until it is lifted" : isOver(ban, now) ? `Over since ${TIME.format(ban.until)}` : TIME.format(ban.until)}
      </td>
      <td>{ban.reason === "" ? "–" : ban.reason}</td>
      <td>
        {canLift && (
          <Button size="small" onPress={onLift} aria-label={`Lift the ${ban.kind} of ${who}`}>
            Lift
          </Button>
        )}
      </td>
    </tr>
  );
}
