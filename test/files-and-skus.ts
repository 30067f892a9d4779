import { createDb } from "#db/client.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { media } from "#db/schema/media.ts";
import { newId } from "#worker/lib/ids.ts";
import type { TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

// Inserts files and skus into a test site, for requests that refer to them.

const db = createDb(siteStore);

/** Adds an uploaded file without its content. */
export async function addFile(site: TestSite, id = newId(Date.now())): Promise<string> {
  const file = { fileName: "goal.riv", kind: "rive" as const, contentType: "application/rive", size: 4 };
  await db.insert(media).values({ ...file, id, siteId: site.id, created: 1, modified: 1 });
  return id;
}

/** Adds subscriptions with these skus; existing ones stay unchanged. */
export async function addSkus(site: Pick<TestSite, "id">, ...skus: string[]): Promise<void> {
  if (skus.length === 0) return;
  const rows = skus.map((sku) => ({
    id: newId(Date.now()),
    siteId: site.id,
    sku,
    name: sku,
    subscriptionProvider: "external" as const,
    prices: [],
    tags: [],
    created: 1,
    modified: 1,
  }));
  await db.insert(subscriptions).values(rows).onConflictDoNothing();
}
