import { env } from "cloudflare:workers";

// A stand-in DNS resolver at the Worker's DNS-over-HTTPS URL, with the records that a test publishes. Every other name resolves to one
// public address, so that tests can call any host.

const TYPES = new Map([
  ["A", 1],
  ["TXT", 16],
  ["AAAA", 28],
]);
const DEFAULT_ADDRESS = "93.184.215.14";

interface RecordSet {
  values: string[];
  ttl: number;
}

const records = new Map<string, RecordSet>();
const queries: string[] = [];
const realFetch = globalThis.fetch;

/** Sets the TXT records of a name, quoted as in the resolver's responses. */
export function publishTxt(name: string, ...values: string[]): void {
  records.set(`TXT ${name}`, { values, ttl: 300 });
}

/** Sets the addresses of a name, with a TTL in seconds. */
export function publishAddresses(name: string, addresses: string[], ttl = 300): void {
  for (const type of ["A", "AAAA"])
    records.set(`${type} ${name}`, { values: addresses.filter((address) => address.includes(":") === (type === "AAAA")), ttl });
}

/** How often the resolver was queried for a name. */
export function queryCount(name: string): number {
  return queries.filter((queried) => queried === name).length;
}

/** The resolver's response, or undefined for a request to another host. */
export function resolve(input: RequestInfo | URL): Response | undefined {
  const url = new URL(input instanceof Request ? input.url : input);
  return url.origin + url.pathname === env.TIFO_DNS_URL ? respond(url.searchParams) : undefined;
}

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => resolve(input) ?? realFetch(input, init),
});

/** Responds in the JSON format of DNS over HTTPS: status 0 with records, 3 for an unknown name, HTTP 400 for an invalid query. */
function respond(query: URLSearchParams): Response {
  const name = query.get("name") ?? "";
  const typeName = query.get("type") ?? "";
  const type = TYPES.get(typeName);
  if (name === "" || type === undefined) return new Response("Invalid query", { status: 400 });
  queries.push(name);
  if (name.startsWith("unreachable.")) throw new TypeError("Network connection lost.");
  if (name.startsWith("garbled.")) return new Response("<h1>Welcome</h1>");
  if (name.startsWith("broken.")) return Response.json({ Status: 2, TC: false, RD: true, Question: [{ name, type }] });
  const { values, ttl } = records.get(`${typeName} ${name}`) ?? { values: typeName === "A" ? [DEFAULT_ADDRESS] : [], ttl: 300 };
  const alias = { name, type: 5, TTL: ttl, data: `alias.${name}.` };
  return Response.json(
    {
      Status: values.length > 0 ? 0 : 3,
      Question: [{ name, type }],
      ...(values.length > 0 && { Answer: [alias, ...values.map((data) => ({ name, type, TTL: ttl, data }))] }),
    },
    { headers: { "Content-Type": "application/dns-json" } },
  );
}
