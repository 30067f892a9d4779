import { useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { channelsByName } from "#studio/api/channels.ts";
import { useSession } from "#studio/session/context.tsx";

const MOST = 200;

/** The site's channels by name. */
export function useChannels() {
  const { client } = useSession();
  return useQuery({
    queryKey: ["channels", "cards"],
    queryFn: () => channelsByName(client),
  });
}

/** The ids of the channels whose stream is live, for admins. */
export function useLiveChannels() {
  const { client, access } = useSession();
  return useQuery({
    queryKey: ["streams", "live"],
    queryFn: async () => {
      const { results } = await ok(client.api.GET("/stream/v1", { params: { query: { isLive: true, limit: MOST } } }));
      return new Set(results.map(({ channelId }) => channelId));
    },
    enabled: access.isAdmin,
    refetchInterval: 15_000,
  });
}
