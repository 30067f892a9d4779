import { ok, type Schemas, type TifoClient } from "#sdk/client/index.ts";
import { changeLatest, loaded } from "#sdk/client/latest.ts";

type Site = Schemas["SiteAsRead"];
type Change = Partial<Pick<Site, "name" | "settings">>;

/** Changes the site as it is now: what somebody else changes at the same time is kept. */
export async function changeSite(client: TifoClient, change: (site: Site) => Change): Promise<void> {
  await changeLatest(
    () => loaded(client.api.GET("/site/v1")),
    (site, headers) => ok(client.api.PUT("/site/v1", { body: inputOf(site, change(site)), headers })),
  );
}

function inputOf({ name, slug, collections, regions, settings, style, shards, tags, devicelimit }: Site, change: Change) {
  return {
    ...{ name, slug, collections, regions, settings, style },
    ...(shards && { shards }),
    ...(tags && { tags }),
    ...(devicelimit !== undefined && { devicelimit }),
    ...change,
  };
}
