import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "@hono/zod-openapi";

// A receiver of webhooks for the tests and benchmarks that run against a real server: takes what comes and keeps what it was.

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
  /** Every event once, in the order in which each came first. */
  events: Map<string, ReceivedEvent>;
  /** Requests, repeated ones included. */
  requests(): number;
  /** Resolves once this holds; asked whenever something has come. */
  until(holds: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one on a free port of the loopback address. `answer` gives the status of each request. */
export async function startReceiver(answer: () => number = () => 204): Promise<Receiver> {
  const events = new Map<string, ReceivedEvent>();
  let requests = 0;
  let waiting: { holds: () => boolean; done: () => void }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests += 1;
      const status = answer();
      if (status < 300) {
        const { eventData } = Body.parse(JSON.parse(body));
        if (!events.has(eventData.id)) events.set(eventData.id, eventData);
      }
      response.writeHead(status).end();
      waiting = waiting.filter(({ holds, done }) => !holds() || done());
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The receiver listens on no port");
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    events,
    requests: () => requests,
    until: (holds) => (holds() ? Promise.resolve() : new Promise<void>((done) => waiting.push({ holds, done }))),
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

/** What is wrong with the order of the events: of each resource they must come by ascending sequence, each after the one before it. */
export function orderViolations(events: Iterable<ReceivedEvent>): string[] {
  const last = new Map<string, number>();
  const wrong: string[] = [];
  for (const { resource, sequence, previousSequence } of events) {
    const before = last.get(resource);
    if (before !== undefined && previousSequence !== before)
      wrong.push(`${resource}: ${sequence} came after ${before}, not ${previousSequence}`);
    last.set(resource, sequence);
  }
  return wrong;
}
