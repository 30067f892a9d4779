import { expect, test } from "vitest";
import { newPolicy, runSteps } from "#test/middleware-app.ts";
import { CLIENT } from "#worker/http/credentials.ts";
import { pipelineOf } from "./pipeline.ts";

test("an operation runs only the steps that its declaration needs", () => {
  const get = { method: "get", access: { credentials: CLIENT } } as const;
  const steps = pipelineOf(newPolicy(get)).length;
  expect(pipelineOf(newPolicy({ ...get, limit: { name: "upload" } }))).toHaveLength(steps + 1);
  expect(pipelineOf(newPolicy({ ...get, access: { credentials: [["client", "device"]] } }))).toHaveLength(steps + 1);
  // A POST takes an Idempotency-Key, and counts as a change of a sandbox.
  expect(pipelineOf(newPolicy({ ...get, method: "post" }))).toHaveLength(steps + 2);
  expect(pipelineOf(newPolicy({ ...get, request: { body: { required: false, content: {} } } }))).toHaveLength(steps + 1);
});

test("checks run in the order 401, 400 of the device, 413", async () => {
  const policy = newPolicy({ access: { credentials: [["client", "device"]] }, input: { maxBytes: 1 } });
  const run = (headers: Record<string, string>) => runSteps(pipelineOf(policy), { bare: true, headers, body: "12" });
  const client = { "Tifo-Client-Id": "5eed0000000000000000a001" };
  expect(await run({})).toMatchObject({ code: "unauthenticated" });
  expect(await run({ ...client, "Content-Length": "2" })).toMatchObject({ code: "invalid_request" });
  expect(await run({ ...client, "Tifo-Device-Id": "tv", "Content-Length": "2" })).toMatchObject({ code: "payload_too_large" });
});
