import { z } from "@hono/zod-openapi";
import { Failure } from "#worker/lib/errors.ts";
import { parseJson } from "#worker/lib/json.ts";
import { callOut, type OutsideAnswer } from "#worker/lib/network/outbound.ts";

const TYPES = { A: 1, TXT: 16, AAAA: 28 } as const;
const TIMEOUT_MS = 5_000;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;

const Reply = z.object({
  Status: z.number(),
  Answer: z.array(z.object({ type: z.number(), TTL: z.number().default(0), data: z.string() })).default([]),
});

/** The addresses of a name and their TTL in seconds. */
export interface Addresses {
  addresses: string[];
  ttl: number;
}

/** The TXT records of a name over DNS-over-HTTPS; empty if it has none or doesn't exist. Throws `unavailable` if the resolver fails. */
export async function txtRecords(env: Env, name: string): Promise<string[]> {
  const { status, text } = await query(env, name, "TXT");
  if (status !== 200) return [];
  const reply = Reply.safeParse(parseJson(text)).data;
  if (!reply) throw new Failure("unavailable", `The TXT records of ${name} could not be resolved`);
  // If the domain's name servers fail, this counts as no record.
  return reply.Answer.filter(({ type }) => type === TYPES.TXT).map(({ data }) => unquote(data));
}

/** The IPv4 and IPv6 addresses of a name; empty if it has none or doesn't exist. Throws `unavailable` if the resolver fails. */
export async function addressesOf(env: Env, name: string): Promise<Addresses> {
  const records = (await Promise.all([addressRecords(env, name, "A"), addressRecords(env, name, "AAAA")])).flat();
  const addresses = records.filter(({ type }) => type === TYPES.A || type === TYPES.AAAA).map(({ data }) => data);
  return { addresses, ttl: addresses.length === 0 ? 0 : Math.min(...records.map(({ TTL }) => TTL)) };
}

/** Includes CNAME records, whose TTL counts too. */
async function addressRecords(env: Env, name: string, type: "A" | "AAAA"): Promise<z.infer<typeof Reply>["Answer"]> {
  const { status, text } = await query(env, name, type);
  const reply = status === 200 ? Reply.safeParse(parseJson(text)).data : undefined;
  if (reply?.Status !== NO_ERROR && reply?.Status !== NO_SUCH_NAME)
    throw new Failure("unavailable", `The address of ${name} could not be resolved`);
  return reply.Answer;
}

function query(env: Env, name: string, type: keyof typeof TYPES): Promise<OutsideAnswer> {
  const url = new URL(env.TIFO_DNS_URL);
  url.searchParams.set("name", name);
  url.searchParams.set("type", type);
  return callOut(env, url.href, { headers: { Accept: "application/dns-json" } }, { timeout: TIMEOUT_MS });
}

/** The published text of a record: resolvers quote it, in pieces if it is longer than 255 bytes. */
function unquote(data: string): string {
  const pieces = data.match(/"(?:[^"\\]|\\.)*"/g);
  return pieces === null ? data : pieces.map((piece) => piece.slice(1, -1).replace(/\\(.)/g, "$1")).join("");
}
