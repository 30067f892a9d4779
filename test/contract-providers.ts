import { createDb } from "#db/client.ts";
import { statEntities, statFacts, statHistory } from "#db/schema/stats.ts";
import { newId } from "#worker/lib/ids.ts";
import type { Draft } from "./contract-requests.ts";
import type { TestSite } from "./harness.ts";
import type { Operation } from "./openapi.ts";
import { liveJsonRule, newDataProvider, signatureOf } from "./providers.ts";
import { siteStore } from "#test/site-store.ts";

/** Replaced with the signature once the request is complete. */
export const SIGNATURE_PLACEHOLDER = "to be signed";

const secrets = new Map<string, string>();

async function dataProvider(site: TestSite): Promise<string> {
  const { id, secret } = await newDataProvider(site);
  secrets.set(id, secret);
  return id;
}

/** An entity of the first channel with a fact, as the effect of a provider's event writes it. */
async function statEntity(site: TestSite): Promise<string> {
  const [channelId] = site.channels;
  const own = { siteId: site.id, channelId, at: Date.now(), eventId: newId(Date.now()) };
  const id = newId(Date.now());
  const fact = { ...own, entityId: id, fact: "goals", value: 2 };
  const db = createDb(siteStore);
  await db.batch([
    db.insert(statEntities).values({ ...own, id, type: "player", externalId: id, name: "Ada Moreno", created: own.at }),
    db.insert(statFacts).values({ ...fact, id: newId(own.at) }),
    db.insert(statHistory).values({ ...fact, id: newId(own.at), created: own.at }),
  ]);
  return id;
}

/** Creates the resource of these paths. */
export const PROVIDER_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/dataprovider/v1/{id}": dataProvider,
  "/dataprovider/v1/{id}/rotate": dataProvider,
  "/dataprovider/v1/{providerId}/events": dataProvider,
  "/stats/v1/mappings/{providerId}": dataProvider,
  "/stats/v1/channels/{channelId}/entities/{id}": statEntity,
  "/stats/v1/channels/{channelId}/entities/{id}/history": statEntity,
};

/** Body fields that refer to existing resources. */
export const RULE_FIELDS = { jsonRule: liveJsonRule };

/** What must exist before an operation is called. */
export const PROVIDER_PREREQUISITES: Record<string, (site: TestSite) => Promise<unknown>> = { listAvailableDataProviders: dataProvider };

/** Whether the operation's requests are signed by a data provider. */
export function isSigned({ security }: Operation): boolean {
  return security.flat().includes("signature");
}

/** Signs the request as its provider would; a request without the placeholder stays unchanged. */
export async function signed(operation: Operation, request: Draft): Promise<Draft> {
  if (request.headers["Tifo-Signature"] !== SIGNATURE_PLACEHOLDER) return request;
  const id = decodeURIComponent(request.url.pathname.split("/")[3] ?? "");
  const content = operation.method === "delete" ? id : await textOf(request.body);
  return { ...request, headers: { ...request.headers, ...(await signatureOf(secrets.get(id) ?? "unknown", content)) } };
}

/** A stream can be read only once, and is too large to be accepted anyway. */
async function textOf(body: BodyInit | null): Promise<string> {
  return body instanceof ReadableStream ? "" : new Response(body).text();
}
