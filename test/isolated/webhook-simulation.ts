import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { deliverDue } from "#worker/durable-objects/webhook-endpoint/deliver-due.ts";
import { DeliveryQueue, type DisabledReason } from "#worker/durable-objects/webhook-endpoint/delivery-queue.ts";
import type { DueDelivery } from "#worker/durable-objects/webhook-endpoint/due-delivery.ts";
import type { DeliveryQuery } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { newId } from "#worker/lib/ids.ts";

/** All deliveries, newest first. */
export const PAGE: DeliveryQuery = { limit: 200, offset: 0, direction: -1, cursor: null, state: null, type: null, search: null };
/** The start time of every simulation. */
export const START = Date.UTC(2026, 10, 21, 15);

/** A receiver's response to the nth request: a status, or "hang". */
export type Receiver = (request: number, now: number) => number | "hang";

/** A queue in an object's storage, with a clock that advances only by what it waits for. */
export class Simulation {
  readonly queue: DeliveryQueue;
  readonly arrived: { event: DueDelivery; at: number; accepted: boolean }[] = [];
  now = START;
  most = 0;
  reason: DisabledReason | undefined;
  readonly #receiver: Receiver;
  #random: number;
  #inFlight = 0;

  /** `inMemory`: how many waiting events the queue knows at once. */
  constructor(storage: DurableObjectStorage, receiver: Receiver, { seed = 1, inMemory }: { seed?: number; inMemory?: number } = {}) {
    this.queue = new DeliveryQueue(storage, inMemory);
    this.#receiver = receiver;
    this.#random = seed;
  }

  add(count: number, resources: number, from = 0, text = "Goal"): void {
    const events = Array.from({ length: count }, (_, i) => {
      const id = newId(this.now);
      const resource = `overlay/${(from + i) % resources}`;
      const eventData = JSON.stringify({ id, sequence: from + i + 1, resource, data: { name: `${text} ${i}` } });
      return {
        id,
        type: "overlay.updated",
        resource,
        service: "overlay-service-v1",
        eventData,
        account: null,
        method: null,
        originPath: null,
      };
    });
    this.queue.add(events, this.now);
  }

  /** A reproducible number from 0 to 1. */
  random(): number {
    this.#random = (this.#random * 48_271) % 2_147_483_647;
    return this.#random / 2_147_483_647;
  }

  /** Runs what alarms would, until nothing is pending, the endpoint is disabled, or the given time. */
  async run(until = Infinity): Promise<void> {
    for (;;) {
      const due = this.queue.nextDue();
      if (due === undefined || due > until || this.reason !== undefined) return;
      this.now = Math.max(this.now, due);
      this.reason = await deliverDue(this.queue, {
        send: (event) => this.#send(event),
        now: () => this.now,
        random: () => this.random(),
      });
    }
  }

  async #send(event: DueDelivery) {
    this.most = Math.max(this.most, ++this.#inFlight);
    const at = this.now;
    const response = this.#receiver(this.arrived.length + 1, at);
    this.arrived.push({ event, at, accepted: response === 204 });
    await Promise.resolve();
    this.#inFlight -= 1;
    const duration = response === "hang" ? 15_000 : 20;
    this.now = Math.max(this.now, at + duration);
    if (response === "hang") return { at, duration, status: null, error: "No response within 15 s" };
    return { at, duration, status: response, error: response === 204 ? null : `Responded with ${response}` };
  }

  /** Accepted sequences in order, by resource. */
  accepted(): Map<string, number[]> {
    const byResource = Map.groupBy(
      this.arrived.filter(({ accepted }) => accepted),
      ({ event }) => event.resource,
    );
    return new Map([...byResource].map(([resource, deliveries]) => [resource, deliveries.map(({ event }) => sequenceOf(event))]));
  }
}

export function sequenceOf({ eventData }: DueDelivery): number {
  return Number(/"sequence":(\d+)/.exec(eventData)?.[1]);
}

/** Runs a simulation in a new object's storage. */
export function simulate(
  receiver: Receiver,
  play: (simulation: Simulation, storage: DurableObjectStorage) => Promise<void>,
  seed = 1,
): Promise<void> {
  const stub = env.WEBHOOK_ENDPOINT.getByName(`simulated:${newId(Date.now())}`);
  return runInDurableObject(stub, (_, state) => play(new Simulation(state.storage, receiver, { seed }), state.storage));
}

/** Expects that every event was accepted exactly once, and in order per resource. */
export function expectAll(simulation: Simulation, count: number): void {
  const accepted = [...simulation.accepted().values()];
  expect(accepted.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  for (const sequences of accepted) expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
}
