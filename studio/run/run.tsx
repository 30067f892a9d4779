import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useParam } from "#studio/app/param.ts";
import { useSearch } from "#studio/app/search.ts";
import { ok } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import { useSession } from "#studio/session/context.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { NewRundown } from "./new-rundown.tsx";
import { Show } from "./show.tsx";
import "./run.css";

/**
 * The rundowns of a channel: the newest is open at first, and another can be chosen or created. Which one is in the address, so that the
 * show goes on with it after a reload, and when somebody else adds one.
 */
export default function Run() {
  const channelId = useParam("channelId");
  const { client, access } = useSession();
  const [{ rundown: chosen }, setSearch] = useSearch();
  const channel = useQuery({
    queryKey: ["channel", channelId],
    queryFn: () => ok(client.api.GET("/page/v2/{id}", { params: { path: { id: channelId } } })),
  });
  const rundowns = useQuery({
    queryKey: ["rundowns", channelId],
    queryFn: () => readAll((page) => ok(client.api.GET("/rundown/v1", { params: { query: { ...page, channelId } } }))),
  });
  const list = rundowns.data ?? [];
  const open = list.find(({ _id }) => _id === chosen) ?? list[0];
  const openId = open?._id;
  const isKnown = !rundowns.isFetching;
  useEffect(() => {
    if (openId !== undefined && openId !== chosen && isKnown) setSearch({ rundown: openId });
  }, [openId, chosen, isKnown, setSearch]);
  const canWrite = access.managesChannel(channelId, "write");
  const failed = [channel, rundowns].find(({ isError, data }) => isError && data === undefined);
  if (failed) return <ErrorState error={failed.error} retry={() => void failed.refetch()} />;
  if (!channel.data || !rundowns.data) return <Loading label="Loading the rundown…" />;
  return (
    <Show
      key={open?._id ?? "none"}
      channelId={channelId}
      channelName={channel.data.data.name}
      rundownId={open?._id ?? null}
      canWrite={canWrite}
      chooser={
        <div className="run-chooser">
          {list.length > 0 && (
            <select
              className="field-input"
              aria-label="Rundown to run"
              value={open?._id ?? ""}
              onChange={({ target }) => setSearch({ rundown: target.value })}
            >
              {list.map(({ _id, name }) => (
                <option key={_id} value={_id}>
                  {name}
                </option>
              ))}
            </select>
          )}
          {canWrite && (
            <NewRundown channelId={channelId} onCreated={(id) => void rundowns.refetch().then(() => setSearch({ rundown: id }))} />
          )}
        </div>
      }
    />
  );
}
