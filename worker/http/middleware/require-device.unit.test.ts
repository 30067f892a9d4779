import { expect, test } from "vitest";
import { runSteps, uncheckedCaller } from "#test/middleware-app.ts";
import { unauthenticated } from "#worker/lib/errors.ts";
import { requireDevice } from "./require-device.ts";

test("a printable device id of up to 200 characters is accepted, and the caller stays unchecked until a query", async () => {
  const { log, status } = await runSteps([requireDevice], { headers: { "Tifo-Device-Id": "d".repeat(200) } });
  expect({ log, status }).toEqual({ log: ["run the handler"], status: 200 });
});

test.for([undefined, "", "living room", "d".repeat(201)])("the device id %o is a 400 once the caller is checked", async (device) => {
  const headers = device === undefined ? undefined : { "Tifo-Device-Id": device };
  expect(await runSteps([requireDevice], { headers })).toMatchObject({ log: ["check the caller"], code: "invalid_request" });
  const check = uncheckedCaller(unauthenticated());
  expect(await runSteps([requireDevice], { headers, check })).toMatchObject({ code: "unauthenticated" });
});
