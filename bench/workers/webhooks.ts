import { DurableObject } from "cloudflare:workers";
import { deliverDue } from "../../worker/durable-objects/deliver-due.ts";
import { DeliveryQueue } from "../../worker/durable-objects/delivery-queue.ts";
import { newId } from "../../worker/lib/ids.ts";
import { sendEvent } from "../../worker/services/webhook-dispatch.ts";

// Our queue and our sender as an endpoint's object has them, without the database that holds its settings.

interface BenchEnv extends Env {
  ENDPOINT: DurableObjectNamespace<Endpoint>;
}

const RESOURCES = 100;

export class Endpoint extends DurableObject<BenchEnv> {
  /** Queues so many events and resolves once all of them were taken. */
  async deliver(count: number, url: string): Promise<void> {
    const queue = new DeliveryQueue(this.ctx.storage);
    const target = { url, enabled: true, secret: "whsec_dGhlIGJlbmNobWFyaydzIG93biBzZWNyZXQsIDMyIGI=", previous: undefined };
    const now = Date.now();
    queue.add(
      Array.from({ length: count }, (_, number) => newEvent(number, now)),
      now,
    );
    while (queue.nextDue() !== undefined)
      await deliverDue(queue, {
        send: (event) => sendEvent(this.env, target, event),
        now: () => Date.now(),
        random: () => Math.random(),
      });
  }
}

function newEvent(number: number, now: number) {
  const id = newId(now);
  const resource = `overlay/${number % RESOURCES}`;
  const data = { _id: id, name: "Goal", description: "Home side scores", html: "x".repeat(400) };
  const eventData = JSON.stringify({ id, type: "overlay.updated", created: now, sequence: number, previousSequence: null, resource, data });
  const origin = { account: null, method: "PUT", originPath: "/overlay/v1/{id}" };
  return { id, type: "overlay.updated", resource, service: "overlay-service-v1", eventData, ...origin };
}

export default {
  async fetch(request, env) {
    const { searchParams } = new URL(request.url);
    await env.ENDPOINT.getByName("endpoint").deliver(Number(searchParams.get("n")), searchParams.get("url") ?? "");
    return new Response("delivered");
  },
} satisfies ExportedHandler<BenchEnv>;
