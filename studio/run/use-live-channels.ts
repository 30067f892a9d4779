import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import { useSession } from "#studio/session/context.tsx";

/** The ids of the channels whose stream is live, for admins. */
export function useLiveChannels() {
  const { client, access } = useSession();
  return useQuery({
    queryKey: ["streams", "live"],
    queryFn: async () => {
      const streams = await readAll((page) => ok(client.api.GET("/stream/v1", { params: { query: { ...page, isLive: true } } })));
      return new Set(streams.map(({ channelId }) => channelId));
    },
    enabled: access.isAdmin,
    refetchInterval: 15_000,
  });
}
