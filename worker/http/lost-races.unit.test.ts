import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { conflict, Failure, LostRace } from "#worker/lib/errors.ts";
import { newPolicy } from "#test/middleware-app.ts";
import type { AppEnv } from "./app-env.ts";
import { rerunLostRaces } from "./lost-races.ts";

interface Attempts {
  /** How many attempts lose before one succeeds. */
  lost: number;
  error?: Error;
  ifMatch?: number[];
  commutes?: boolean;
  writesBefore?: boolean;
}

/** Runs a handler that loses some races, and returns how it ended and how often it ran. */
async function run({ lost, error = new LostRace(), ifMatch, commutes = false, writesBefore = false }: Attempts) {
  let attempts = 0;
  let failure: unknown;
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("usage", { roundTrips: 0, statements: 0 });
    c.set("operation", newPolicy({ retries: { commutes } }));
    c.set("ctx", {
      env: c.env,
      siteId: "",
      db: createDb(c.env.DB),
      now: 0,
      requestId: "",
      caller: () => Promise.resolve({ kind: "system" }),
      ifMatch,
      deviceId: undefined,
      emitted: { siteIds: new Set(), completedEventIds: [] },
      defer: () => undefined,
    });
    await next();
  });
  const responses = { 200: {}, 412: {} };
  app.get(
    "/",
    rerunLostRaces({ responses }, async (c) => {
      attempts += 1;
      if (writesBefore) c.get("usage").writes = 1;
      if (attempts <= lost) throw error;
      return c.text("done");
    }),
  );
  app.onError((cause, c) => {
    failure = cause;
    return c.text("failed", 500);
  });
  const { status } = await app.request("/", {}, { DB: {} });
  return { attempts, status, code: failure instanceof Failure ? failure.code : undefined };
}

describe("a request that loses a race", () => {
  test("reruns once", async () => {
    expect(await run({ lost: 1 })).toEqual({ attempts: 2, status: 200, code: undefined });
  });

  test("fails with 409 if it loses twice", async () => {
    expect(await run({ lost: 2 })).toMatchObject({ attempts: 2, code: "conflict" });
  });

  test("fails with 412 if it loses twice and has If-Match", async () => {
    expect(await run({ lost: 2, ifMatch: [1] })).toMatchObject({ attempts: 2, code: "precondition_failed" });
  });

  test("reruns until it succeeds if its change commutes", async () => {
    expect(await run({ lost: 12, commutes: true })).toMatchObject({ attempts: 13, status: 200 });
  });

  test("never reruns once it has written something", async () => {
    expect(await run({ lost: 1, writesBefore: true })).toMatchObject({ attempts: 1, code: "conflict" });
  });

  test("is the only failure that makes the handler rerun", async () => {
    expect(await run({ lost: 1, error: conflict("The stream is already live") })).toMatchObject({ attempts: 1, code: "conflict" });
    expect(await run({ lost: 1, error: new TypeError("x") })).toMatchObject({ attempts: 1, status: 500 });
  });
});
