import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { DeliveryQueue } from "#worker/durable-objects/webhook-endpoint/delivery-queue.ts";
import { newId } from "#worker/lib/ids.ts";
import { rowsWritten } from "../rows-written.ts";
import { WEBHOOK_ENDPOINT } from "./first-schema.ts";
import { expectAll, PAGE, type Receiver, sequenceOf, simulate, Simulation, START } from "./webhook-simulation.ts";

// Events that arrive together share a row until one of them needs its own.

const accepts: Receiver = () => 204;
const ASCENDING = { ...PAGE, direction: 1 } as const;

/** Runs with the storage of an object that has no tables yet. */
function withStorage(work: (storage: DurableObjectStorage) => Promise<void> | void): Promise<void> {
  return runInDurableObject(env.LIMITER.getByName(newId(START)), (_, { storage }) => work(storage));
}

function eventOf(resource: string, eventData = '{"sequence":1}') {
  const rest = { type: "test.happened", service: "test-service-v1", account: "someone", method: null, originPath: null };
  return { ...rest, id: newId(START), resource, eventData };
}

test.each([100, 1])("100 deliveries that succeed at once write at most ten rows (of %i resources)", (resources) =>
  simulate(accepts, async (simulation, storage) => {
    // The first one sets numbers aside.
    simulation.add(1, 1);
    await simulation.run();
    const written = await rowsWritten(storage, () => {
      simulation.add(100, resources, 1);
      return simulation.run();
    });
    expectAll(simulation, 101);
    expect(written).toBeLessThanOrEqual(10);
  }),
);

test("a single delivery that succeeds at once writes five rows", () =>
  simulate(accepts, async (simulation, storage) => {
    simulation.add(1, 1);
    await simulation.run();
    const written = await rowsWritten(storage, () => {
      simulation.add(1, 1, 1);
      return simulation.run();
    });
    expect(written).toBe(5);
  }));

test("every delivery is listed with its attempts, in one order, whether it has a row of its own or shares one", () =>
  simulate(
    (request) => (request % 7 === 3 ? 500 : 204),
    async (simulation) => {
      simulation.add(250, 50);
      await simulation.run();
      const { rows, totalCount } = simulation.queue.list({ ...ASCENDING, limit: 300 });
      expect(totalCount).toBe(250);
      expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
      expect(rows.flatMap(({ attempts }) => attempts)).toHaveLength(simulation.arrived.length);
      expect(
        rows.every(({ state, nextTry, attempts }) => state === "delivered" && nextTry === null && attempts.at(-1)?.status === 204),
      ).toBe(true);
      const down = simulation.queue.list({ ...PAGE, limit: 300 }).rows;
      expect(down).toEqual(rows.toReversed());
      for (const [direction, all] of [
        [1, rows],
        [-1, down],
      ] as const) {
        expect(simulation.queue.list({ ...PAGE, direction, limit: 30, offset: 95 }).rows).toEqual(all.slice(95, 125));
        for (const at of [0, 99, 100, 101, 180])
          expect(simulation.queue.list({ ...PAGE, direction, limit: 120, cursor: all[at]?.number ?? 0 }).rows).toEqual(
            all.slice(at + 1, at + 121),
          );
      }
    },
  ));

test("deliveries in pages are counted and found by state, type and text", () =>
  simulate(accepts, async (simulation) => {
    simulation.add(120, 120);
    const delivered = simulation.queue.dueByResource(simulation.now, new Set()).flat().slice(0, 20);
    const attempt = { at: simulation.now, duration: 5, status: 204, error: null };
    simulation.queue.delivered(delivered.map((event) => ({ event, attempt })));
    const found = (query: object) => {
      const { rows, totalCount } = simulation.queue.list({ ...ASCENDING, limit: 200, ...query });
      expect(rows).toHaveLength(totalCount);
      return totalCount;
    };
    expect([found({}), found({ state: "delivered" }), found({ state: "pending" }), found({ state: "failed" })]).toEqual([120, 20, 100, 0]);
    expect([found({ type: "overlay.updated" }), found({ type: "overlay.created" })]).toEqual([120, 0]);
    expect([found({ search: "overlay/11" }), found({ search: "updated", state: "delivered" })]).toEqual([11, 20]);
  }));

test("only an event that waits for no other of its resource has a next attempt", () =>
  simulate(
    () => 500,
    async (simulation) => {
      simulation.add(4, 2);
      const nextTries = () => simulation.queue.list(ASCENDING).rows.map(({ nextTry }) => nextTry);
      expect(nextTries()).toEqual([START, START, null, null]);
      await simulation.run(simulation.now);
      expect(nextTries()).toEqual([expect.any(Number), expect.any(Number), null, null]);
      simulation.add(1, 1);
      expect(nextTries().slice(4)).toEqual([null]);
    },
  ));

test("events behind a failing one wait in their page, and cause neither rows nor runs", () =>
  simulate(
    () => 500,
    async (simulation, storage) => {
      simulation.add(50, 1);
      await simulation.run(simulation.now);
      const retry = simulation.queue.nextDue() ?? 0;
      expect(retry).toBeGreaterThan(simulation.now);
      simulation.add(50, 1, 50);
      expect(simulation.queue.nextDue()).toBe(retry);
      expect(storage.sql.exec("SELECT number FROM deliveries").toArray()).toEqual([{ number: 1 }]);
      simulation.add(2, 2, 100);
      expect(simulation.queue.nextDue()).toBeLessThan(retry);
    },
  ));

test.each([1, 2, 3])("with more events than are known in memory, all arrive in order (%i)", (seed) =>
  withStorage(async (storage) => {
    const failing: Receiver = () => (simulation.random() < 0.4 ? 500 : 204);
    const simulation: Simulation = new Simulation(storage, failing, { seed, inMemory: 20 });
    simulation.add(700, 30);
    await simulation.run();
    expectAll(simulation, 700);
  }),
);

test("events that wait behind a failing one don't keep others from becoming known", () =>
  withStorage(async (storage) => {
    const simulation = new Simulation(storage, (request) => (request === 1 ? 500 : 204), { inMemory: 100 });
    simulation.add(400, 1);
    await simulation.run(simulation.now);
    simulation.add(1, 500, 400);
    const other = simulation.now;
    await simulation.run(other + 1000);
    expect(simulation.accepted().get("overlay/400")).toEqual([401]);
    await simulation.run();
    expectAll(simulation, 401);
  }));

test("a restart continues a page where it was, and repeats only what wasn't recorded", () =>
  simulate(accepts, async (simulation, storage) => {
    simulation.add(10, 2);
    const attempt = { at: simulation.now, duration: 5, status: 204, error: null };
    const [events = []] = simulation.queue.dueByResource(simulation.now, new Set());
    simulation.queue.delivered(events.slice(0, 2).map((event) => ({ event, attempt })));
    const after = new Simulation(storage, accepts);
    await after.run();
    expect(after.arrived.map(({ event }) => event.id)).not.toContain(events[0]?.id);
    expect(after.accepted()).toEqual(
      new Map([
        ["overlay/0", [5, 7, 9]],
        ["overlay/1", [2, 4, 6, 8, 10]],
      ]),
    );
  }));

test("texts are sent exactly as they were queued", () =>
  withStorage((storage) => {
    const queue = new DeliveryQueue(storage);
    const texts = ['{"a": 1.0, "b":"é😀\\u0000"}', '{"2":1,"1":2}', '{"long":"' + "x".repeat(300_000) + '"}', "{}"];
    queue.add(
      texts.map((text, i) => eventOf(`test/${i}`, text)),
      START,
    );
    const due = queue.dueByResource(START, new Set()).flat();
    expect(due.map(({ eventData }) => eventData)).toEqual(texts);
  }));

test("erasing a person's data leaves other events of the page as they are", () =>
  withStorage((storage) => {
    const queue = new DeliveryQueue(storage);
    const textOf = (sequence: number) => `{"sequence":${sequence},"data":{"name":"é"}}`;
    queue.add([eventOf("a/1", textOf(1)), eventOf("a/12", textOf(2)), eventOf("a/1", textOf(3))], START);
    queue.erase("a/1", 3);
    const due = queue.dueByResource(START, new Set()).flat();
    expect(due.map(({ eventData, account }) => [eventData, account]).toSorted()).toEqual([
      ['{"sequence":1,"data":{"erased":true}}', null],
      [textOf(2), "someone"],
      [textOf(3), "someone"],
    ]);
  }));

test("deliveries that an earlier release queued are sent first, and one that it queues afterwards has a number of its own", () =>
  withStorage(async (storage) => {
    storage.sql.exec(WEBHOOK_ENDPOINT);
    const insert = (sequence: number, due: number | null) =>
      storage.sql.exec(
        `INSERT INTO deliveries (id, event_id, type, resource, service, event, created, due)
         VALUES (?, ?, 'overlay.updated', 'overlay/0', 'overlay-service-v1', ?, ?, ?)`,
        ...[newId(START), newId(START), `{"sequence":${sequence}}`, START, due],
      );
    insert(1, START);
    insert(2, null);
    const simulation = new Simulation(storage, accepts);
    simulation.add(3, 1, 2);
    await simulation.run();
    expect(simulation.accepted().get("overlay/0")).toEqual([1, 2, 3, 4, 5]);
    insert(6, START);
    await simulation.run();
    const numbers = simulation.queue.list(ASCENDING).rows.map(({ number }) => number);
    expect(numbers.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
    expect(numbers[5]).toBeGreaterThan(5);
    const restarted = new Simulation(storage, accepts);
    restarted.add(2, 1, 6);
    await restarted.run();
    expect(restarted.arrived.map(({ event }) => sequenceOf(event))).toEqual([7, 8]);
    expect(new Set(restarted.queue.list(ASCENDING).rows.map(({ number }) => number)).size).toBe(8);
  }));

test("an event that an earlier release has queued again is sent from its row alone, after it failed in its page", () =>
  withStorage(async (storage) => {
    const simulation = new Simulation(storage, (request) => (request === 1 ? 500 : 204));
    simulation.add(1, 1);
    storage.sql.exec(
      `INSERT INTO deliveries (id, event_id, type, resource, service, event, created)
       SELECT ?, value ->> 'eventId', 'overlay.updated', 'overlay/0', 'overlay-service-v1', '{"sequence":1}', 0
       FROM page_events, json_each(entries)`,
      newId(START),
    );
    const [[event] = []] = new DeliveryQueue(storage).dueByResource(START, new Set());
    expect(event).toBeUndefined();
    storage.sql.exec("UPDATE deliveries SET state = 'failed'");
    const attempt = { at: START, duration: 5, status: 500, error: "Responded with 500" };
    const [[next] = []] = simulation.queue.dueByResource(START, new Set());
    if (next) simulation.queue.failed(next, attempt, 0);
    expect(simulation.queue.nextDue()).toBeUndefined();
    expect(simulation.queue.list(PAGE).rows).toMatchObject([{ state: "failed" }]);
  }));

test("pages go with what they hold: settled ones after seven days, those with pending events after thirty", () =>
  simulate(accepts, async (simulation, storage) => {
    simulation.add(150, 150);
    await simulation.run();
    simulation.add(5, 1, 150);
    const day = 86_400_000;
    simulation.queue.prune(simulation.now + 8 * day);
    expect(simulation.queue.list(PAGE).totalCount).toBe(5);
    simulation.queue.prune(simulation.now + 31 * day);
    expect(simulation.queue.isEmpty()).toBe(true);
    expect(storage.sql.exec("SELECT number FROM page_events").toArray()).toEqual([]);
    expect(simulation.queue.nextDue()).toBeUndefined();
  }));
