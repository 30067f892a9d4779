import { expect, test } from "vitest";
import { deliverDue } from "#worker/durable-objects/webhook-endpoint/deliver-due.ts";
import { RETRY_DELAYS } from "#worker/services/webhooks/backoff.ts";
import { expectAll, PAGE, sequenceOf, simulate } from "./webhook-simulation.ts";

// What happens during a run.

test("data that is erased during a run isn't sent, even if it was already read ahead", () => {
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

test("an event that arrives while a request hangs is sent without waiting for that request", () =>
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

test("a run ends when the endpoint accepts no more, and keeps pending deliveries", () =>
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

test("an internal error ends the run, and completed deliveries stay completed", () =>
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

test("at most a megabyte is read ahead", () =>
  simulate(
    () => 204,
    async (simulation) => {
      simulation.add(100, 10, 0, "x".repeat(104_000));
      const read = simulation.queue.dueByResource(simulation.now, new Set()).flat();
      expect(read).toHaveLength(10);
      await simulation.run();
      expectAll(simulation, 100);
    },
  ));

test("a completed delivery is listed as delivered during the run", () => {
  let look: () => void;
  const seen: unknown[] = [];
  return simulate(
    (request) => {
      if (request === 3) look();
      return 204;
    },
    async (simulation) => {
      look = () =>
        seen.push(...simulation.queue.list({ ...PAGE, direction: 1 }).rows.map(({ state, attempts }) => [state, attempts.length]));
      simulation.add(4, 1);
      await simulation.run();
      expect(seen).toEqual([
        ["delivered", 1],
        ["delivered", 1],
        ["pending", 0],
        ["pending", 0],
      ]);
    },
  );
});

test("an event whose redelivery is requested right after its delivery is sent again", () => {
  let again: () => void;
  return simulate(
    (request) => {
      if (request === 2) again();
      return 204;
    },
    async (simulation) => {
      const [first] = (simulation.add(2, 1), simulation.queue.list({ ...PAGE, direction: 1 }).rows);
      again = () => simulation.queue.redeliver(first?.id ?? "", simulation.now);
      await simulation.run();
      expect(simulation.arrived.map(({ event }) => sequenceOf(event))).toEqual([1, 2, 1]);
    },
  );
});

test("an event whose redelivery is requested during its last attempt gets all its attempts again", () => {
  let again: () => void;
  return simulate(
    (request) => {
      if (request === 2) again();
      return request < 3 ? 500 : 204;
    },
    async (simulation, storage) => {
      simulation.add(1, 1);
      await simulation.run(simulation.now);
      storage.sql.exec("UPDATE deliveries SET tries = ?", RETRY_DELAYS.length);
      again = () => simulation.queue.redeliver(simulation.queue.list(PAGE).rows[0]?.id ?? "", simulation.now);
      await simulation.run();
      expect(simulation.arrived.map(({ accepted }) => accepted)).toEqual([false, false, true]);
      const attempts = [{ status: 500 }, { status: 500 }, { status: 204 }];
      expect(simulation.queue.list(PAGE).rows).toMatchObject([{ state: "delivered", attempts }]);
    },
  );
});

test("no attempt is scheduled before the receiver's pause is over", () =>
  simulate(
    () => 500,
    async (simulation) => {
      simulation.add(12, 12);
      await simulation.run(simulation.now + 60_000);
      const { rows } = simulation.queue.list(PAGE);
      const next = simulation.queue.nextDue() ?? 0;
      expect(next).toBeGreaterThan(simulation.now);
      expect(Math.min(...rows.map(({ nextTry }) => nextTry ?? 0))).toBe(next);
    },
  ));
