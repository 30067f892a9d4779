import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { DeliveryQueue } from "#worker/durable-objects/webhook-endpoint/delivery-queue.ts";
import { RETRY_DELAYS, RETRY_SPAN } from "#worker/services/webhooks/backoff.ts";
import { newId } from "#worker/lib/ids.ts";
import { expectAll, PAGE, sequenceOf, simulate, Simulation, START } from "./webhook-simulation.ts";

const HOUR = 3_600_000;

test("a working receiver gets everything in order per resource, up to six deliveries at once", () =>
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

test.each([1, 2, 3, 4, 5, 6, 7, 8])("a receiver that fails half of the time gets everything, in order per resource (%i)", (seed) => {
  let failing: Simulation;
  return simulate(
    () => (failing.random() < 0.5 ? 500 : 204),
    async (simulation) => {
      failing = simulation;
      simulation.add(1_000, 100);
      await simulation.run();
      expectAll(simulation, 1_000);
      expect(simulation.arrived.length).toBeGreaterThan(1_800);
    },
    seed,
  );
});

test("a receiver that hangs occasionally gets everything", () =>
  simulate(
    (request) => (request % 3 === 0 ? "hang" : 204),
    async (simulation) => {
      simulation.add(60, 10);
      await simulation.run();
      expectAll(simulation, 60);
    },
  ));

test("a receiver that is down for an hour gets everything soon after, and few attempts in between", () =>
  simulate(
    (_, now) => (now < START + HOUR ? 503 : 204),
    async (simulation) => {
      simulation.add(200, 50);
      await simulation.run();
      expectAll(simulation, 200);
      // Without the pauses, each of 50 resources would cause three or four attempts in that hour.
      expect(simulation.arrived.filter(({ at }) => at < START + HOUR).length).toBeLessThan(40);
      expect(simulation.now).toBeLessThan(START + 4 * HOUR);
    },
  ));

test("an event is attempted 25 times in just over 75 hours, then abandoned, and the endpoint is disabled", () =>
  simulate(
    () => 500,
    async (simulation) => {
      simulation.add(1, 1);
      await simulation.run();
      expect(simulation.reason).toBe("failing");
      const moments = simulation.arrived.map(({ at }) => at);
      const waits = moments.slice(1).map((at, i) => at - (moments[i] ?? 0));
      expect(moments).toHaveLength(25);
      RETRY_DELAYS.forEach((delay, i) => {
        expect(waits[i]).toBeGreaterThanOrEqual(delay);
        expect(waits[i]).toBeLessThan(delay * 1.1 + 1_000);
      });
      expect(simulation.now - START).toBeGreaterThan(RETRY_SPAN);
      expect(simulation.queue.list(PAGE).rows).toMatchObject([{ state: "failed", nextTry: null }]);
    },
  ));

test("an abandoned event releases the next one of its resource, and alone doesn't disable the endpoint", () =>
  simulate(
    () => 204,
    async (simulation, storage) => {
      simulation.add(2, 1);
      const attempt = { at: simulation.now, duration: 0, status: 500, error: "Responded with 500" };
      const fail = () => {
        const [[next] = []] = simulation.queue.dueByResource(simulation.now, new Set());
        if (!next) throw new Error("Nothing is due");
        return simulation.queue.failed(next, attempt, 0);
      };
      fail();
      storage.sql.exec("UPDATE deliveries SET tries = ? WHERE number = 1", RETRY_DELAYS.length);
      simulation.now += RETRY_SPAN / 2;
      expect(fail()).toBeUndefined();
      await simulation.run();
      expect(simulation.accepted().get("overlay/0")).toEqual([2]);
      expect(simulation.queue.list(PAGE).rows.map(({ state }) => state)).toEqual(["delivered", "failed"]);
    },
  ));

test("a continuous failure disables the endpoint after 75 hours, however much is pending, and enabling it starts again", () => {
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
      simulation.queue.retryNow(simulation.now);
      await simulation.run(simulation.now);
      const failed = simulation.queue.list({ ...PAGE, state: "failed" }).totalCount;
      expect([...simulation.accepted().values()].flat()).toHaveLength(400 - failed);
    },
  );
});

test("a 410 disables the endpoint immediately, without further requests", () =>
  simulate(
    () => 410,
    async (simulation) => {
      simulation.add(100, 100);
      await simulation.run();
      expect(simulation.reason).toBe("gone");
      expect(simulation.arrived.length).toBeLessThanOrEqual(6);
    },
  ));

test("an event that is accepted twice is sent once", () =>
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

test("a delivery that was in flight when the object died is sent again", () =>
  simulate(
    () => 204,
    async (simulation, storage) => {
      simulation.add(3, 3);
      expect(simulation.queue.dueByResource(simulation.now, new Set())).toHaveLength(3);
      const after = new Simulation(storage, () => 204);
      await after.run();
      expectAll(after, 3);
    },
  ));

test("10,000 events of one resource are sent in order, one at a time", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(10_000, 1);
      await simulation.run();
      expectAll(simulation, 10_000);
      expect(simulation.most).toBe(1);
    },
  ));

test("completed deliveries are deleted after seven days or beyond 20,000, pending ones after thirty days", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(20_010, 20_010);
      const attempt = { at: simulation.now, duration: 0, status: 204, error: null };
      const [[first] = []] = simulation.queue.dueByResource(simulation.now, new Set());
      if (first) simulation.queue.failed(first, { ...attempt, status: 500, error: "Responded with 500" }, 0);
      const others = () => simulation.queue.dueByResource(simulation.now, new Set()).flat();
      for (let due = others(); due.length > 0; due = others()) simulation.queue.delivered(due.map((event) => ({ event, attempt })));
      simulation.queue.prune(simulation.now);
      // The first page, with 99 of these, is the one with which they would be more.
      expect(simulation.queue.list({ ...PAGE, state: "delivered" }).totalCount).toBe(20_010 - 100);
      expect(simulation.queue.list({ ...PAGE, direction: 1, limit: 2 }).rows.map(({ number }) => number)).toEqual([1, 101]);
      simulation.queue.prune(simulation.now + 7 * 24 * HOUR + 1);
      expect(simulation.queue.list(PAGE).rows).toMatchObject([{ state: "pending" }]);
      simulation.queue.prune(simulation.now + 30 * 24 * HOUR + 1);
      expect(simulation.queue.isEmpty()).toBe(true);
    },
  ));

test("a deleted person's data is erased from pending deliveries", () =>
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

test("a delivery that was pending for thirty days is abandoned, and releases the ones behind it", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(1, 1);
      simulation.now += 20 * 24 * HOUR;
      simulation.add(1, 1, 1);
      simulation.now += 11 * 24 * HOUR;
      simulation.queue.prune(simulation.now);
      await simulation.run();
      expect(simulation.accepted().get("overlay/0")).toEqual([2]);
    },
  ));

test("a redelivered event is sent before later ones of its resource, even those that already have a due time", () =>
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

test("deliveries that are read ahead up to the limit leave no statement open, which would hold a lock", async () => {
  await runInDurableObject(env.LIMITER.getByName(newId(START)), (_, { storage }) => {
    const queue = new DeliveryQueue(storage);
    const event = { type: "test.happened", service: "test-service-v1", account: null, method: null, originPath: null };
    const events = Array.from({ length: 4 }, (_event, number) => ({
      ...{ ...event, id: newId(START + number), resource: `test/${number}` },
      eventData: JSON.stringify({ text: "a".repeat(400_000) }),
    }));
    queue.add(events, START);
    expect(queue.dueByResource(START, new Set()).map((group) => group.length)).toEqual([1, 1, 1]);
    storage.sql.exec("DROP TABLE deliveries; DROP TABLE pages; DROP TABLE page_events");
  });
});
