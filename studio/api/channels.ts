import type { Schemas, TifoClient } from "#sdk/client/index.ts";
import { listChannels } from "#sdk/core/channels.ts";

/** The site's channels by name. */
export function channelsByName(client: TifoClient): Promise<Schemas["Page"][]> {
  return listChannels({ client }, null, { sortBy: "data.name", sortDirection: 1 });
}
