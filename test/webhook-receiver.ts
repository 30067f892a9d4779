import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "@hono/zod-openapi";

// A webhook receiver for tests and benchmarks that run against a real server. It keeps every event that it accepts.

const Body = z.object({
  eventData: z.object({
    id: z.string(),
    type: z.string(),
    sequence: z.number(),
    previousSequence: z.number().nullable(),
    resource: z.string(),
    data: z.record(z.string(), z.unknown()),
  }),
});

export type ReceivedEvent = z.infer<typeof Body>["eventData"];

export interface Receiver {
  url: string;
  /** All distinct events, in the order in which they first arrived. */
  events: Map<string, ReceivedEvent>;
  /** The number of requests, including repeated ones. */
  requests(): number;
  /** Resolves once the condition holds; evaluated after each request. */
  until(condition: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a receiver on a free port of the loopback address. `respond` returns the status of each response. */
export async function startReceiver(respond: () => number = () => 204): Promise<Receiver> {
  const events = new Map<string, ReceivedEvent>();
  let requests = 0;
  let waiting: { condition: () => boolean; done: () => void }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests += 1;
      const status = respond();
      if (status < 300) {
        const { eventData } = Body.parse(JSON.parse(body));
        if (!events.has(eventData.id)) events.set(eventData.id, eventData);
      }
      response.writeHead(status).end();
      waiting = waiting.filter(({ condition, done }) => !condition() || done());
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The receiver isn't listening on a port");
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    events,
    requests: () => requests,
    until: (condition) => (condition() ? Promise.resolve() : new Promise<void>((done) => waiting.push({ condition, done }))),
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

/** Violations of the order of events: each event must arrive directly after the previous event of its resource. */
export function orderViolations(events: Iterable<ReceivedEvent>): string[] {
  const last = new Map<string, number>();
  const violations: string[] = [];
  for (const { resource, sequence, previousSequence } of events) {
    const before = last.get(resource);
    if (before !== undefined && previousSequence !== before)
      violations.push(`${resource}: ${sequence} arrived after ${before} instead of ${previousSequence}`);
    last.set(resource, sequence);
  }
  return violations;
}
