import type { z } from "@hono/zod-openapi";
import { vi } from "vitest";
import { WebhookPayload } from "#worker/services/webhooks/endpoint-schemas.ts";

// Receivers of webhooks, at https://hooks.demo.example unless a test says otherwise, told apart by URL: each keeps what it gets and answers as it is told.

const HOST = "https://hooks.demo.example";
const outside = globalThis.fetch;
const inboxes = new Map<string, WebhookInbox>();

/** How a receiver takes a request: a status, no answer for as long as it may take, or one of 200 whose body never ends. */
export type Reception = number | "hang" | "endless";

/** One request as it came in. */
export interface Received {
  headers: Record<string, string>;
  body: string;
  payload: z.output<typeof WebhookPayload>;
}

export class WebhookInbox {
  readonly url: string;
  readonly received: Received[] = [];
  /** The statuses or failures to come, one after the other; then `otherwise`. */
  next: Reception[] = [];
  otherwise: Reception = 204;
  /** Endless answers that nobody reads any more. */
  cancelled = 0;

  constructor(name: string, host = HOST) {
    this.url = `${host}/${name}`;
    inboxes.set(this.url, this);
  }

  get types(): string[] {
    return this.received.map(({ payload }) => payload.eventData.type);
  }

  /** Resolves once so many requests have come. */
  async holds(count: number): Promise<Received[]> {
    await vi.waitUntil(() => this.received.length >= count, { interval: 5 });
    return this.received;
  }

  async take(request: Request): Promise<Response> {
    const body = await request.text();
    this.received.push({ headers: Object.fromEntries(request.headers), body, payload: WebhookPayload.strict().parse(JSON.parse(body)) });
    const reception = this.next.shift() ?? this.otherwise;
    if (reception === "endless")
      return new Response(new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(1024)), cancel: () => void this.cancelled++ }));
    if (reception !== "hang") return new Response(null, { status: reception, headers: { Location: `${HOST}/elsewhere` } });
    return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))));
  }
}

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    const inbox = inboxes.get(url.href);
    if (inbox) return inbox.take(new Request(input, init));
    return url.origin === HOST ? new Response(null, { status: 204 }) : outside(input, init);
  },
});
