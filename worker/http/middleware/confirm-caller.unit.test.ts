import { expect, test } from "vitest";
import { readSites, runSteps, uncheckedCaller } from "#test/middleware-app.ts";
import { forbidden, invalid } from "#worker/lib/errors.ts";
import { confirmUnchecked } from "./confirm-caller.ts";

test("a caller whom no query has checked is checked after the handler", async () => {
  const { log, status } = await runSteps([confirmUnchecked]);
  expect({ log, status }).toEqual({ log: ["run the handler", "check the caller"], status: 200 });
});

test("a caller whom a query has checked is not checked again", async () => {
  const { log } = await runSteps([confirmUnchecked], { handler: async (c) => c.json(await readSites(c)) });
  expect(log).toEqual(["run the handler", "check the caller with select"]);
});

test("wrong credentials take precedence over an invalid request", async () => {
  const handler = () => {
    throw invalid("name", "Too long");
  };
  expect(await runSteps([confirmUnchecked], { handler })).toMatchObject({ code: "invalid_request" });
  expect(await runSteps([confirmUnchecked], { handler, check: uncheckedCaller(forbidden()) })).toMatchObject({ code: "forbidden" });
});
