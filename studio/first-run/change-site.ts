import { ok, type Schemas, TifoProblem, type TifoClient } from "#sdk/client/index.ts";

type Site = Schemas["SiteAsRead"];
type Change = Partial<Pick<Site, "name" | "settings">>;

const ATTEMPTS = 3;

/** Changes the site as it is now: what somebody else changes at the same time is kept. */
export async function changeSite(client: TifoClient, change: (site: Site) => Change): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const reading = client.api.GET("/site/v1");
    const site = await ok(reading);
    const etag = (await reading).response.headers.get("ETag");
    try {
      await ok(client.api.PUT("/site/v1", { body: inputOf(site, change(site)), headers: etag === null ? {} : { "If-Match": etag } }));
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof TifoProblem) || error.status !== 412) throw error;
    }
  }
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
