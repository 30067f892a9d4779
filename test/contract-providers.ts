import type { Draft } from "./contract-requests.ts";
import type { TestSite } from "./harness.ts";
import type { Operation } from "./openapi.ts";
import { liveJsonRule, newDataProvider, signatureOf } from "./providers.ts";

/** Stands where a signature will be: what is signed is known only when a request has its last form. */
export const SIGNATURE_PLACEHOLDER = "to be signed";

const secrets = new Map<string, string>();

async function dataProvider(site: TestSite): Promise<string> {
  const { id, secret } = await newDataProvider(site);
  secrets.set(id, secret);
  return id;
}

/** What the paths of these operations are about. */
export const PROVIDER_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/dataprovider/v1/{id}": dataProvider,
  "/dataprovider/v1/{id}/rotate": dataProvider,
  "/dataprovider/v1/{providerId}/events": dataProvider,
};

/** Fields of a body that must lead somewhere. */
export const RULE_FIELDS = { jsonRule: liveJsonRule };

/** What an operation needs to have been made before. */
export const PROVIDER_PREREQUISITES: Record<string, (site: TestSite) => Promise<unknown>> = { listAvailableDataProviders: dataProvider };

/** Whether a data provider signs the operation's requests. */
export function isSigned({ security }: Operation): boolean {
  return security.flat().includes("signature");
}

/** The request as its provider signs it; one that carries something else for a signature stays as it is. */
export async function signed(operation: Operation, request: Draft): Promise<Draft> {
  if (request.headers["Tifo-Signature"] !== SIGNATURE_PLACEHOLDER) return request;
  const id = decodeURIComponent(request.url.pathname.split("/")[3] ?? "");
  const content = operation.method === "delete" ? id : await textOf(request.body);
  return { ...request, headers: { ...request.headers, ...(await signatureOf(secrets.get(id) ?? "nobody's", content)) } };
}

/** A stream can be read once, and is too large to be taken anyway. */
async function textOf(body: BodyInit | null): Promise<string> {
  return body instanceof ReadableStream ? "" : new Response(body).text();
}
