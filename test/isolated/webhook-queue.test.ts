import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { deliverDue } from "../../worker/durable-objects/deliver-due.ts";
import { DeliveryQueue, type DisabledReason, type DueDelivery } from "../../worker/durable-objects/delivery-queue.ts";
import { RETRY_DELAYS, RETRY_SPAN } from "../../worker/lib/backoff.ts";
import { newId } from "../../worker/lib/ids.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 21, 15);

/** How a receiver takes the nth request at a moment: a status, or "hang". */
type Receiver = (request: number, now: number) => number | "hang";

/** A queue in an object's own storage, on a clock that stands still but for what is waited for. */
class Simulation {
  readonly queue: DeliveryQueue;
  readonly arrived: { event: DueDelivery; at: number; taken: boolean }[] = [];
  now = START;
  most = 0;
  reason: DisabledReason | undefined;
  readonly #receiver: Receiver;
  #random: number;
  #underWay = 0;

  constructor(storage: DurableObjectStorage, receiver: Receiver, seed = 1) {
    this.queue = new DeliveryQueue(storage);
    this.#receiver = receiver;
    this.#random = seed;
  }

  add(count: number, resources: number, from = 0): void {
    const events = Array.from({ length: count }, (_, i) => {
      const id = newId(this.now);
      const resource = `overlay/${(from + i) % resources}`;
      const eventData = JSON.stringify({ id, sequence: from + i + 1, resource, data: { name: `Goal ${i}` } });
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

  /** Runs what alarms would, until nothing waits, the endpoint is switched off, or a moment has come. */
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
    this.most = Math.max(this.most, ++this.#underWay);
    const at = this.now;
    const answer = this.#receiver(this.arrived.length + 1, at);
    this.arrived.push({ event, at, taken: answer === 204 });
    await Promise.resolve();
    this.#underWay -= 1;
    const duration = answer === "hang" ? 15_000 : 20;
    this.now = Math.max(this.now, at + duration);
    if (answer === "hang") return { at, duration, status: null, error: "No answer within 15 s" };
    return { at, duration, status: answer, error: answer === 204 ? null : `Answered ${answer}` };
  }

  /** Sequences as they were taken, by resource. */
  taken(): Map<string, number[]> {
    const byResource = Map.groupBy(
      this.arrived.filter(({ taken }) => taken),
      ({ event }) => event.resource,
    );
    return new Map([...byResource].map(([resource, tries]) => [resource, tries.map(({ event }) => sequenceOf(event))]));
  }
}

function sequenceOf({ eventData }: DueDelivery): number {
  return Number(/"sequence":(\d+)/.exec(eventData)?.[1]);
}

function simulate(receiver: Receiver, play: (simulation: Simulation, storage: DurableObjectStorage) => Promise<void>): Promise<void> {
  const stub = env.WEBHOOK_ENDPOINT.getByName(`simulated:${newId(Date.now())}`);
  return runInDurableObject(stub, (_, state) => play(new Simulation(state.storage, receiver), state.storage));
}

/** Every event taken exactly so often, and those of each resource in their order. */
function expectAll(simulation: Simulation, count: number): void {
  const taken = [...simulation.taken().values()];
  expect(taken.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  for (const sequences of taken) expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
}

test("a receiver that works gets everything in order per resource, several at once but never more than six", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(500, 40);
      await simulation.run();
      expectAll(simulation, 500);
      expect(simulation.most).toBe(6);
      expect(simulation.now - START).toBeLessThan(60_000);
    },
  ));

test("a receiver that fails half of the time gets everything, in order per resource", () => {
  let failing: Simulation;
  return simulate(
    () => (failing.random() < 0.5 ? 500 : 204),
    async (simulation) => {
      failing = simulation;
      simulation.add(300, 25);
      await simulation.run();
      expectAll(simulation, 300);
      expect(simulation.arrived.length).toBeGreaterThan(500);
    },
  );
});

test("a receiver that hangs now and then gets everything", () =>
  simulate(
    (request) => (request % 3 === 0 ? "hang" : 204),
    async (simulation) => {
      simulation.add(60, 10);
      await simulation.run();
      expectAll(simulation, 60);
    },
  ));

test("a receiver that is down for an hour gets everything soon after, and is left alone meanwhile", () =>
  simulate(
    (_, now) => (now < START + HOUR ? 503 : 204),
    async (simulation) => {
      simulation.add(200, 50);
      await simulation.run();
      expectAll(simulation, 200);
      // Of 50 resources each would be tried three or four times in that hour, were the receiver not given pauses.
      expect(simulation.arrived.filter(({ at }) => at < START + HOUR).length).toBeLessThan(40);
      expect(simulation.now).toBeLessThan(START + 4 * HOUR);
    },
  ));

test("an event is tried ten times in a little over 75 hours, then given up; the endpoint is switched off with it", () =>
  simulate(
    () => 500,
    async (simulation) => {
      simulation.add(1, 1);
      await simulation.run();
      expect(simulation.reason).toBe("failing");
      const moments = simulation.arrived.map(({ at }) => at);
      const waits = moments.slice(1).map((at, i) => at - (moments[i] ?? 0));
      expect(waits).toHaveLength(RETRY_DELAYS.length);
      RETRY_DELAYS.forEach((delay, i) => {
        expect(waits[i]).toBeGreaterThanOrEqual(delay);
        expect(waits[i]).toBeLessThan(delay * 1.1 + 1_000);
      });
      expect(simulation.now - START).toBeGreaterThan(RETRY_SPAN);
      expect(simulation.queue.list(PAGE).rows).toMatchObject([{ state: "failed", nextTry: null }]);
    },
  ));

test("an event that is given up lets the next of its resource go, and what failed alone switches nothing off", () =>
  simulate(
    () => 204,
    async (simulation, storage) => {
      simulation.add(2, 1);
      storage.sql.exec("UPDATE deliveries SET tries = 9 WHERE number = 1");
      const [last] = simulation.queue.lines(simulation.now, new Set())[0] ?? [];
      if (!last) throw new Error("Nothing is due");
      const attempt = { at: simulation.now, duration: 0, status: 500, error: "Answered 500" };
      expect(simulation.queue.failed(last, attempt, 0)).toBeUndefined();
      await simulation.run();
      expect(simulation.taken().get("overlay/0")).toEqual([2]);
      expect(simulation.queue.list(PAGE).rows.map(({ state }) => state)).toEqual(["delivered", "failed"]);
    },
  ));

test("an endless failure switches the endpoint off after 75 hours, however much waits, and being set anew begins anew", () => {
  let isBack = false;
  return simulate(
    () => (isBack ? 204 : 500),
    async (simulation) => {
      simulation.add(400, 200);
      await simulation.run();
      expect(simulation.reason).toBe("failing");
      expect(simulation.now - START).toBeLessThan(RETRY_SPAN + HOUR);
      expect(simulation.queue.list({ ...PAGE, state: "pending" }).totalCount).toBeGreaterThan(0);
      isBack = true;
      simulation.reason = undefined;
      simulation.queue.beginAnew(simulation.now);
      await simulation.run(simulation.now);
      const given = simulation.queue.list({ ...PAGE, state: "failed" }).totalCount;
      expect([...simulation.taken().values()].flat()).toHaveLength(400 - given);
    },
  );
});

test("410 switches off at once and begins nothing more", () =>
  simulate(
    () => 410,
    async (simulation) => {
      simulation.add(100, 100);
      await simulation.run();
      expect(simulation.reason).toBe("gone");
      expect(simulation.arrived.length).toBeLessThanOrEqual(6);
    },
  ));

test("an event that is handed over twice is sent once", () =>
  simulate(
    () => 204,
    async (simulation) => {
      const event = {
        ...{ id: newId(0), type: "overlay.created", resource: "overlay/1", service: "overlay-service-v1", eventData: '{"sequence":1}' },
        ...{ account: null, method: null, originPath: null },
      };
      simulation.queue.add([event, event], simulation.now);
      await simulation.run();
      simulation.queue.add([event], simulation.now);
      await simulation.run();
      expect(simulation.arrived).toHaveLength(1);
    },
  ));

test("what was on its way when the object died is sent again", () =>
  simulate(
    () => 204,
    async (simulation, storage) => {
      simulation.add(3, 3);
      expect(simulation.queue.lines(simulation.now, new Set())).toHaveLength(3);
      const after = new Simulation(storage, () => 204);
      await after.run();
      expectAll(after, 3);
    },
  ));

test("10,000 events of one resource cost the same each, in order", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(10_000, 1);
      await simulation.run();
      expectAll(simulation, 10_000);
      expect(simulation.most).toBe(1);
    },
  ));

test("what was settled is forgotten after seven days, and beyond 20,000; what waits is kept for thirty days", () =>
  simulate(
    () => 204,
    async (simulation, storage) => {
      simulation.add(20_010, 20_010);
      storage.sql.exec("UPDATE deliveries SET state = 'delivered', due = NULL, settled = created WHERE number > 1");
      simulation.queue.prune(simulation.now);
      expect(simulation.queue.list(PAGE).totalCount).toBe(20_001);
      expect(simulation.queue.list({ ...PAGE, direction: 1, limit: 2 }).rows.map(({ number }) => number)).toEqual([1, 11]);
      simulation.queue.prune(simulation.now + 7 * 24 * HOUR + 1);
      expect(simulation.queue.list(PAGE).rows).toMatchObject([{ state: "pending" }]);
      simulation.queue.prune(simulation.now + 30 * 24 * HOUR + 1);
      expect(simulation.queue.isEmpty()).toBe(true);
    },
  ));

test("what an event says of a deleted person is taken out of what waits", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(2, 1);
      simulation.queue.erase("overlay/0", 2);
      await simulation.run();
      const sent = simulation.arrived.map(({ event }): unknown => JSON.parse(event.eventData));
      expect(sent).toMatchObject([
        { sequence: 1, data: { erased: true } },
        { sequence: 2, data: { name: "Goal 1" } },
      ]);
    },
  ));

test("what has waited for thirty days is given up, and lets go what waited behind it", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(1, 1);
      simulation.now += 20 * 24 * HOUR;
      simulation.add(1, 1, 1);
      simulation.now += 11 * 24 * HOUR;
      simulation.queue.prune(simulation.now);
      await simulation.run();
      expect(simulation.taken().get("overlay/0")).toEqual([2]);
    },
  ));

test("what is erased while a run is under way is not sent as it was read ahead", () => {
  let erase: () => void;
  return simulate(
    (request) => {
      if (request === 3) erase();
      return 204;
    },
    async (simulation) => {
      erase = () => simulation.queue.erase("overlay/0", 11);
      simulation.add(10, 1);
      await simulation.run();
      const sent = simulation.arrived.map(({ event }): unknown => JSON.parse(event.eventData));
      expect(sent.slice(0, 3)).toMatchObject([{ data: { name: "Goal 0" } }, { data: { name: "Goal 1" } }, { data: { name: "Goal 2" } }]);
      expect(sent.slice(3)).toMatchObject(Array.from({ length: 7 }, (_, i) => ({ sequence: i + 4, data: { erased: true } })));
    },
  );
});

test("what comes while a request hangs is sent without waiting for its end", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(1, 1);
      const hanging = Promise.withResolvers<void>();
      const second = Promise.withResolvers<void>();
      const run = deliverDue(simulation.queue, {
        send: async (event) => {
          if (event.resource === "overlay/0") await hanging.promise;
          else second.resolve();
          return { at: simulation.now, duration: 0, status: 204, error: null };
        },
        now: () => simulation.now,
        random: () => 0,
      });
      simulation.add(1, 7, 5);
      await second.promise;
      expect(simulation.queue.list(PAGE).rows.map(({ state }) => state)).toEqual(["pending", "pending"]);
      hanging.resolve();
      await run;
      expect(simulation.queue.list(PAGE).rows.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
    },
  ));

test("a run ends where the endpoint wants nothing more, and keeps what waits", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(20, 20);
      let sent = 0;
      const send = async () => (++sent > 3 ? null : { at: simulation.now, duration: 0, status: 204, error: null });
      await deliverDue(simulation.queue, { send, now: () => simulation.now, random: () => 0 });
      expect(sent).toBeLessThanOrEqual(8);
      expect(simulation.queue.list({ ...PAGE, state: "delivered" }).totalCount).toBe(3);
      expect(simulation.queue.list({ ...PAGE, state: "pending" }).totalCount).toBe(17);
    },
  ));

test("an error of ours ends the run, and what was taken before it stays taken", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(2, 1);
      let sent = 0;
      const send = async () => {
        if (++sent === 2) throw new Error("No settings");
        return { at: simulation.now, duration: 0, status: 204, error: null };
      };
      await expect(deliverDue(simulation.queue, { send, now: () => simulation.now, random: () => 0 })).rejects.toThrow("No settings");
      expect(simulation.queue.list(PAGE).rows.map(({ state }) => state)).toEqual(["pending", "delivered"]);
    },
  ));

test("an event that is sent again goes before the later ones of its resource, those with a time of their own too", () =>
  simulate(
    (request) => (request === 2 ? 500 : 204),
    async (simulation) => {
      simulation.add(3, 1);
      await simulation.run(simulation.now);
      expect(simulation.queue.list({ ...PAGE, direction: 1 }).rows.map(({ state }) => state)).toEqual(["delivered", "pending", "pending"]);
      const [first] = simulation.queue.list({ ...PAGE, direction: 1 }).rows;
      expect(simulation.queue.redeliver(first?.id ?? "", simulation.now)).toBe(true);
      await simulation.run();
      expect(simulation.arrived.map(({ event }) => sequenceOf(event))).toEqual([1, 2, 1, 2, 3]);
    },
  ));

test("no more is read ahead than fits into a megabyte", () =>
  simulate(
    () => 204,
    async (simulation, storage) => {
      simulation.add(100, 10);
      storage.sql.exec("UPDATE deliveries SET event = json_set(event, '$.data.name', ?)", "x".repeat(100_000));
      const read = simulation.queue.lines(simulation.now, new Set()).flat();
      expect(read.length).toBeGreaterThan(10);
      expect(read.length).toBeLessThanOrEqual(21);
      await simulation.run();
      expectAll(simulation, 100);
    },
  ));

const PAGE = { limit: 200, offset: 0, direction: -1 as const, cursor: null, state: null, type: null, search: null };
