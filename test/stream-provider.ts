import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "@hono/zod-openapi";
import type { TestProject } from "vitest/node";
import { type LocalService, readText, sendJson, startLocalService } from "./local-service.ts";

// A stand-in for a stream provider: an HTTP server with the four calls, for any number of customers, which the first path segment
// identifies. PUT /<customer>/behaviour configures how it behaves, GET /<customer>/calls returns what it received.

/** How calls behave, in turn; the last behaviour applies to all further calls. */
export const BEHAVIOURS = ["succeed", "fail", "reject", "hang", "garbage", "flood", "redirect"] as const;
const CALLS = ["create", "start", "stop", "delete"] as const;

export const Behaviour = z.partialRecord(z.enum(CALLS), z.array(z.enum(BEHAVIOURS)).min(1));
export type Behaviour = z.infer<typeof Behaviour>;

/** A call as received; `call` comes from the path, so that a followed redirect would be visible. */
export const SeenCall = z.object({ call: z.string(), authorization: z.string(), streamId: z.string(), body: z.unknown() });
export type SeenCall = z.infer<typeof SeenCall>;

const CallBody = z.strictObject({ streamId: z.string(), title: z.string(), siteId: z.string() });

interface Customer {
  behaviour: Behaviour;
  calls: SeenCall[];
  /** Whether each stream is live. */
  streams: Map<string, boolean>;
}

/** Starts the provider on a free port of the loopback address. */
export function startStreamProvider(): Promise<LocalService> {
  const customers = new Map<string, Customer>();
  return startLocalService((request, response) => handle(customers, request, response));
}

/** Starts one provider for all tests of a project. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const provider = await startStreamProvider();
  project.provide("streamProvider", provider.url);
  return () => provider.stop();
}

async function handle(customers: Map<string, Customer>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, name = "", resource = ""] = (request.url ?? "").split("/");
  const customer = customers.get(name) ?? { behaviour: {}, calls: [], streams: new Map<string, boolean>() };
  customers.set(name, customer);
  const text = await readText(request);
  if (resource === "calls") return sendJson(response, 200, customer.calls);
  if (resource === "behaviour") {
    customer.behaviour = Behaviour.parse(JSON.parse(text));
    return sendJson(response, 204);
  }
  const streamId = String(request.headers["tifo-stream-id"] ?? "");
  const body: unknown = JSON.parse(text);
  customer.calls.push({ call: resource, authorization: request.headers.authorization ?? "", streamId, body });
  const call = CALLS.find((known) => known === resource);
  if (request.method !== "POST" || !call || CallBody.parse(body).streamId !== streamId)
    return sendJson(response, 400, { error: "Bad call" });
  behave(customer, call, streamId, response, name);
}

function behave(customer: Customer, call: (typeof CALLS)[number], streamId: string, response: ServerResponse, name: string): void {
  switch (nextBehaviour(customer, call)) {
    case "succeed":
      return succeed(customer, call, streamId, response);
    case "fail":
      return sendJson(response, 503, { error: "Out of order" });
    case "reject":
      return sendJson(response, 403, { error: "No" });
    case "hang":
      // It executes the call but never responds.
      return void customer.streams.set(streamId, call === "start");
    case "garbage":
      customer.streams.set(streamId, call === "start");
      return void response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Welcome</h1>");
    case "flood":
      return void response.writeHead(200).end(JSON.stringify({ padding: "a".repeat(100_000) }));
    case "redirect":
      return void response.writeHead(307, { Location: `/${name}/moved` }).end();
  }
}

function nextBehaviour({ behaviour }: Customer, call: (typeof CALLS)[number]): (typeof BEHAVIOURS)[number] {
  const [first = "succeed", ...rest] = behaviour[call] ?? [];
  if (rest.length > 0) behaviour[call] = rest;
  return first;
}

/** Every call is safe to repeat. */
function succeed({ streams }: Customer, call: (typeof CALLS)[number], streamId: string, response: ServerResponse): void {
  if (call !== "create" && !streams.has(streamId)) return sendJson(response, 404, { error: "No such stream" });
  if (call === "delete") streams.delete(streamId);
  else streams.set(streamId, call === "start");
  if (call !== "create") return sendJson(response, 200, { providerStreamId: `ps-${streamId}` });
  sendJson(response, 201, {
    providerStreamId: `ps-${streamId}`,
    ingestUrl: "rtmps://ingest.demo.example/live",
    playbackUrl: `https://play.demo.example/${streamId}.m3u8`,
    streamKey: `key-${streamId}`,
  });
}
