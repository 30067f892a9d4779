import type { z } from "@hono/zod-openapi";
import { vi } from "vitest";
import { WebhookPayload } from "#worker/services/webhooks/endpoint-schemas.ts";

// Webhook receivers inside the Worker's isolate, by default at https://hooks.demo.example, one per URL. Each keeps what it receives, and
// its test decides how it responds.

const HOST = "https://hooks.demo.example";
const realFetch = globalThis.fetch;
const inboxes = new Map<string, WebhookInbox>();

/** How a receiver responds: with a status, never, with a 200 whose body never ends, or in its own way. */
export type InboxResponse = number | "hang" | "endless" | (() => Response);

/** One request as received. */
export interface Received {
  headers: Record<string, string>;
  body: string;
  payload: z.output<typeof WebhookPayload>;
}

export class WebhookInbox {
  readonly url: string;
  readonly received: Received[] = [];
  /** The next responses, in turn; then `otherwise`. */
  next: InboxResponse[] = [];
  otherwise: InboxResponse = 204;
  /** Endless responses that the Worker has stopped reading. */
  cancelled = 0;

  constructor(name: string, host = HOST) {
    this.url = `${host}/${name}`;
    inboxes.set(this.url, this);
  }

  get types(): string[] {
    return this.received.map(({ payload }) => payload.eventData.type);
  }

  /** Waits until this many requests have arrived. */
  async waitFor(count: number): Promise<Received[]> {
    await vi.waitUntil(() => this.received.length >= count, { interval: 5 });
    return this.received;
  }

  async receive(request: Request): Promise<Response> {
    const body = await request.text();
    this.received.push({ headers: Object.fromEntries(request.headers), body, payload: WebhookPayload.strict().parse(JSON.parse(body)) });
    const response = this.next.shift() ?? this.otherwise;
    if (typeof response === "function") return response();
    if (response === "endless")
      return new Response(new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(1024)), cancel: () => void this.cancelled++ }));
    if (response !== "hang") return new Response(null, { status: response, headers: { Location: `${HOST}/elsewhere` } });
    return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))));
  }
}

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    const inbox = inboxes.get(url.href);
    if (inbox) return inbox.receive(new Request(input, init));
    return url.origin === HOST ? new Response(null, { status: 204 }) : realFetch(input, init);
  },
});
