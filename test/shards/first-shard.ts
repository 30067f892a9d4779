import { PASSWORD, siteIds, type TestSite } from "#test/harness.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { NewSite, SetupLink } from "#worker/services/sites/setup-schemas.ts";

/** What a site is created with. */
export function newSiteInput(slug = `club-${randomHex(5)}`) {
  return { name: "New club", slug, admin: { email: `${randomHex(6)}@clubs.example`, password: PASSWORD, name: "Ada Admin" } };
}

/** Creates a site on the first shard, where those of setup links are. */
export async function createOnFirst(by: TestSite, input = newSiteInput()) {
  const { setupToken } = (await by.call("createSetupLink", { body: {} })).as(SetupLink);
  const response = await by.call("setUpSite", { as: "nobody", body: { ...input, setupToken } });
  if (response.status !== 201) return { status: response.status, id: "", slug: "", adminId: "" };
  const { site, admin } = response.as(NewSite);
  siteIds.push(site._id);
  return { status: 201, id: site._id, slug: site.slug, adminId: admin._id };
}
