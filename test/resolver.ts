import { env } from "cloudflare:workers";

// A resolver for the tests: answers what the Worker asks at its DNS-over-HTTPS address, from the records that a test publishes.

const records = new Map<string, string[]>();
const outside = globalThis.fetch;

/** Sets the TXT records of a name, each as the resolver writes it: quoted. */
export function publishTxt(name: string, ...values: string[]): void {
  records.set(name, values);
}

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    return url.origin + url.pathname === env.TIFO_DNS_URL ? answer(url.searchParams) : outside(input, init);
  },
});

/** In the JSON form of DNS over HTTPS: status 0 with answers, 3 for a name that doesn't exist, HTTP 400 for a question that isn't one. */
function answer(question: URLSearchParams): Response {
  const name = question.get("name") ?? "";
  if (name === "" || question.get("type") !== "TXT") return new Response("Invalid question", { status: 400 });
  if (name.startsWith("unreachable.")) throw new TypeError("Network connection lost.");
  if (name.startsWith("broken.")) return Response.json({ Status: 2, TC: false, RD: true, Question: [{ name, type: 16 }] });
  const values = records.get(name);
  const alias = { name, type: 5, TTL: 300, data: `alias.${name}.` };
  return Response.json(
    {
      Status: values ? 0 : 3,
      Question: [{ name, type: 16 }],
      ...(values && { Answer: [alias, ...values.map((data) => ({ name, type: 16, TTL: 300, data }))] }),
    },
    { headers: { "Content-Type": "application/dns-json" } },
  );
}
