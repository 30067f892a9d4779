import { useQuery } from "@tanstack/react-query";
import { ok, type TifoClient } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import { listChannels } from "#sdk/core/lists/channels.ts";
import { useSession } from "#studio/session/context.tsx";

export interface Channel {
  _id: string;
  name: string;
  slug: string;
}

/** The site's channels by name. */
export function useChannels() {
  const { client } = useSession();
  return useQuery({ queryKey: ["channels", "names"], queryFn: () => channelsByName(client) });
}

async function channelsByName(client: TifoClient): Promise<Channel[]> {
  const channels = await listChannels({ client }, null, { sortBy: "data.name", sortDirection: 1 });
  return channels.map(({ _id, slug, data }) => ({ _id, name: data.name, slug }));
}

/** The site's polls. */
export function usePolls() {
  const { client } = useSession();
  return useQuery({
    queryKey: ["polls", "names"],
    queryFn: () => readAll((query) => ok(client.api.GET("/poll/v3", { params: { query } }))),
  });
}

/** A list as the choices of a field. */
export function choices(items: readonly { _id: string; name: string }[] | undefined): { value: string; text: string }[] {
  return (items ?? []).map(({ _id, name }) => ({ value: _id, text: name }));
}
