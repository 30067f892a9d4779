const REQUEST = /^(?:(get|post|put|patch|delete)\s+)?(?:https?:\/\/[^/\s]+)?(\/[^\s?#]+)/i;
const PARAMETER = /\/(?:\{[^}/]*\}|:\w+|<[^>/]*>|[\da-f]{12,}|\d+)(?=\/|$)/gi;

/** A request as a query names it, such as `PUT /poll/v3/{id}` or `https://example.com/poll/v3`. */
export interface NamedRequest {
  /** In lower case; absent if the query has only a path. */
  method: string | undefined;
  /** With `{}` for each parameter, without a slash at the end. */
  path: string;
}

/** The request that a text begins with, if it begins with one. */
export function requestIn(text: string): NamedRequest | undefined {
  const [, method, path] = REQUEST.exec(text.trim()) ?? [];
  if (path === undefined) return undefined;
  return { method: method?.toLowerCase(), path: path.replaceAll(PARAMETER, "/{}").replace(/\/$/, "").toLowerCase() };
}

/** How an index names the endpoint of an operation: `PUT /poll/v3/{id}` is `put/poll/v3/{}`. */
export function endpointTerm(endpoint: string): string {
  const request = requestIn(endpoint);
  return request ? `${request.method ?? ""}${request.path}` : "";
}

/** Whether an indexed term is an endpoint that the request names. */
export function namesEndpoint({ method, path }: NamedRequest, term: string): boolean {
  return method === undefined ? term.slice(term.indexOf("/")) === path : term === method + path;
}
