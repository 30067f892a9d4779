import { DurableObject } from "cloudflare:workers";
import { deliverDue } from "#worker/durable-objects/webhook-endpoint/deliver-due.ts";
import { DeliveryQueue } from "#worker/durable-objects/webhook-endpoint/delivery-queue.ts";
import type { QueuedEvent } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { signingKeys } from "#worker/services/webhooks/signature.ts";
import { newDeadline, sendEvent } from "#worker/services/webhooks/dispatch.ts";

// Tifo's delivery queue and sender as an endpoint's object uses them, without the database that stores its settings.

interface BenchEnv extends Env {
  ENDPOINT: DurableObjectNamespace<Endpoint>;
}

const RESOURCES = 100;
const SECRET = "whsec_dGhlIGJlbmNobWFyaydzIG93biBzZWNyZXQsIDMyIGI=";

export class Endpoint extends DurableObject<BenchEnv> {
  #events: QueuedEvent[] = [];

  /** Creates `count` events. */
  prepare(count: number): void {
    const now = Date.now();
    this.#events = Array.from({ length: count }, (_, number) => newEvent(number, now));
  }

  /** Queues the events, and resolves once all of them are delivered. */
  async deliver(url: string): Promise<void> {
    const queue = new DeliveryQueue(this.ctx.storage);
    const target = { url, enabled: true, version: 1, keys: await signingKeys(SECRET), previous: [] };
    const deadline = newDeadline();
    queue.add(this.#events, Date.now());
    while (queue.nextDue() !== undefined)
      await deliverDue(queue, {
        send: (event) => sendEvent(this.env, target, event, deadline),
        now: () => Date.now(),
        random: () => Math.random(),
      });
  }
}

function newEvent(number: number, now: number): QueuedEvent {
  const id = newId(now);
  const resource = `overlay/${number % RESOURCES}`;
  const data = { _id: id, name: "Goal", description: "Home side scores", html: "x".repeat(400) };
  const eventData = JSON.stringify({ id, type: "overlay.updated", created: now, sequence: number, previousSequence: null, resource, data });
  const origin = { account: null, method: "PUT", originPath: "/overlay/v1/{id}" };
  return { id, type: "overlay.updated", resource, service: "overlay-service-v1", eventData, ...origin };
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const endpoint = env.ENDPOINT.getByName("endpoint");
    if (pathname === "/prepare") await endpoint.prepare(Number(searchParams.get("n")));
    else await endpoint.deliver(searchParams.get("url") ?? "");
    return new Response("done");
  },
} satisfies ExportedHandler<BenchEnv>;
