import type { Draft } from "./contract-requests.ts";
import type { TestSite } from "./harness.ts";
import type { Operation } from "./openapi.ts";
import { liveJsonRule, newDataProvider, signatureOf } from "./providers.ts";

/** Replaced with the signature once the request is complete. */
export const SIGNATURE_PLACEHOLDER = "to be signed";

const secrets = new Map<string, string>();

async function dataProvider(site: TestSite): Promise<string> {
  const { id, secret } = await newDataProvider(site);
  secrets.set(id, secret);
  return id;
}

/** Creates the resource of these paths. */
export const PROVIDER_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/dataprovider/v1/{id}": dataProvider,
  "/dataprovider/v1/{id}/rotate": dataProvider,
  "/dataprovider/v1/{providerId}/events": dataProvider,
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
