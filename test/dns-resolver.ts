import { env } from "cloudflare:workers";

// A resolver for the tests: answers what the Worker asks at its DNS-over-HTTPS address, from the records that a test publishes. Every
// other name has one public address, so that whatever a test calls can be called.

const TYPES = new Map([
  ["A", 1],
  ["TXT", 16],
  ["AAAA", 28],
]);
const SOMEWHERE = "93.184.215.14";

interface RecordSet {
  values: string[];
  ttl: number;
}

const records = new Map<string, RecordSet>();
const questions: string[] = [];
const outside = globalThis.fetch;

/** Sets the TXT records of a name, each as the resolver writes it: quoted. */
export function publishTxt(name: string, ...values: string[]): void {
  records.set(`TXT ${name}`, { values, ttl: 300 });
}

/** Sets the addresses of a name, for so many seconds. */
export function publishAddresses(name: string, addresses: string[], ttl = 300): void {
  for (const type of ["A", "AAAA"])
    records.set(`${type} ${name}`, { values: addresses.filter((address) => address.includes(":") === (type === "AAAA")), ttl });
}

/** How often the resolver was asked for a name. */
export function queryCount(name: string): number {
  return questions.filter((asked) => asked === name).length;
}

/** The resolver's answer where a request is for it. */
export function resolve(input: RequestInfo | URL): Response | undefined {
  const url = new URL(input instanceof Request ? input.url : input);
  return url.origin + url.pathname === env.TIFO_DNS_URL ? answer(url.searchParams) : undefined;
}

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => resolve(input) ?? outside(input, init),
});

/** In the JSON form of DNS over HTTPS: status 0 with answers, 3 for a name that doesn't exist, HTTP 400 for a question that isn't one. */
function answer(question: URLSearchParams): Response {
  const name = question.get("name") ?? "";
  const asked = question.get("type") ?? "";
  const type = TYPES.get(asked);
  if (name === "" || type === undefined) return new Response("Invalid question", { status: 400 });
  questions.push(name);
  if (name.startsWith("unreachable.")) throw new TypeError("Network connection lost.");
  if (name.startsWith("garbled.")) return new Response("<h1>Welcome</h1>");
  if (name.startsWith("broken.")) return Response.json({ Status: 2, TC: false, RD: true, Question: [{ name, type }] });
  const { values, ttl } = records.get(`${asked} ${name}`) ?? { values: asked === "A" ? [SOMEWHERE] : [], ttl: 300 };
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
