import { describe, expect, test } from "vitest";
import { readSites, type Run, runSteps, uncheckedCaller } from "#test/middleware-app.ts";
import { unauthenticated } from "#worker/lib/errors.ts";
import { confirmUnchecked } from "./confirm-caller.ts";
import { admitFirst, rateLimit } from "./rate-limit.ts";

/** Runs a handler of an operation that has a limit. */
function run({ handler = (c) => c.text("done"), ...rest }: Run, withFirstRead = false) {
  return runSteps([rateLimit({ name: "upload", withFirstRead }), confirmUnchecked], { ...rest, handler: admitFirst(handler) });
}

describe("the rate limit of an operation", () => {
  test("is taken once, after the caller is checked and before the handler acts", async () => {
    const acted: string[] = [];
    const { log, headers } = await run({
      handler: async (c) => {
        acted.push("handler");
        await readSites(c);
        await c.get("ctx").caller();
        return c.text("done");
      },
    });
    expect(log).toEqual(["run the handler", "check the caller", "take from upload", "select"]);
    expect(acted).toEqual(["handler"]);
    expect(headers.get("RateLimit")).toMatch(/^"upload";r=999/);
  });

  test("stops the handler with a 429 when it is used up", async () => {
    let acted = false;
    const { code } = await run({ quota: 0, handler: (c) => ((acted = true), c.text("done")) });
    expect({ code, acted }).toEqual({ code: "rate_limited", acted: false });
  });

  test("isn't taken for a caller with invalid credentials", async () => {
    for (const withFirstRead of [false, true]) {
      const { log, code } = await run(
        { check: uncheckedCaller(unauthenticated()), handler: async (c) => c.json(await readSites(c)) },
        withFirstRead,
      );
      expect(code).toBe("unauthenticated");
      expect(log).not.toContain("take from upload");
    }
  });

  test("isn't taken when the handler asks for the caller", async () => {
    const { log, code } = await run({ handler: async (c) => c.json(await c.get("ctx").caller()) }, true);
    expect(log).toEqual(["run the handler", "check the caller"]);
    expect(code).toBe("changeThing succeeded without a read that takes its limit");
  });

  describe("that is taken with the first read", () => {
    test("costs no round trip of its own", async () => {
      const { log } = await run({ handler: async (c) => c.json(await readSites(c)) }, true);
      expect(log).toEqual(["run the handler", "check the caller with select", "take from upload"]);
    });

    test("withholds what was read when it is used up", async () => {
      let rows: unknown;
      const handler: Run["handler"] = async (c) => {
        rows = await readSites(c);
        return c.text("done");
      };
      const { code } = await run({ quota: 0, handler }, true);
      expect({ code, rows }).toEqual({ code: "rate_limited", rows: undefined });
    });

    test("isn't taken for a request that fails before it queries D1", async () => {
      const { log, status } = await run({ handler: (c) => c.text("invalid", 400) }, true);
      expect({ log, status }).toEqual({ log: ["run the handler", "check the caller"], status: 400 });
    });
  });
});
