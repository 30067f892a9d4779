import { z } from "@hono/zod-openapi";
import { callOut } from "../lib/outbound.ts";

const TXT = 16;
const Reply = z.object({ Answer: z.array(z.object({ type: z.number(), data: z.string() })).default([]) });

/** The TXT records of a name, none where it has none or doesn't exist; by DNS over HTTPS. Throws `unavailable` without a resolver. */
export async function txtRecords(env: Env, name: string): Promise<string[]> {
  const url = new URL(env.TIFO_DNS_URL);
  url.searchParams.set("name", name);
  url.searchParams.set("type", "TXT");
  const { status, text } = await callOut(env, url.href, { headers: { Accept: "application/dns-json" } });
  if (status !== 200) return [];
  return Reply.parse(JSON.parse(text))
    .Answer.filter(({ type }) => type === TXT)
    .map(({ data }) => unquote(data));
}

/** A record as it was published: resolvers quote it, and in pieces where it is longer than 255 bytes. */
function unquote(data: string): string {
  const pieces = data.match(/"(?:[^"\\]|\\.)*"/g);
  return pieces === null ? data : pieces.map((piece) => piece.slice(1, -1).replace(/\\(.)/g, "$1")).join("");
}
