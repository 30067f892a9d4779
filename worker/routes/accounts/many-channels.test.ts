import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#worker/lib/ids.ts";
import { Pagination } from "#worker/services/core/list-schemas.ts";
import { validCall } from "#test/contract-requests.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { operations } from "#test/openapi.ts";
import { z } from "@hono/zod-openapi";

// An account may administer more channels than D1 takes parameters for a query (100).

const CHANNELS = 200;

const lists = operations.filter(({ method, security, responseSchemas }) => {
  const schema = responseSchemas.get(200);
  return method === "get" && security.flat().includes("bearer") && schema instanceof z.ZodObject && schema.shape.pagination === Pagination;
});

let site: TestSite;
let bearer: string;

beforeAll(async () => {
  site = await newSite();
  const others = Array.from({ length: CHANNELS - 1 }, (_, index) => newId(index + 1));
  const account = await site.addAccount("network", [{ scope: "*", pageId: [site.channels[0], ...others], write: true }]);
  bearer = `Bearer ${await site.signIn(account)}`;
});

test("the lists include those that are limited to the caller's channels", () => {
  expect(lists.map(({ operationId }) => operationId)).toEqual(
    expect.arrayContaining(["listOverlays", "listRundowns", "listScheduledActions", "listStreams"]),
  );
});

describe.each(lists.map((operation) => [operation.operationId, operation] as const))("%s", (operationId, operation) => {
  test("answers an admin of many channels", async () => {
    const call = await validCall(site, operation);
    const { status } = await site.call(operationId, { ...call, as: "client", headers: { ...call.headers, Authorization: bearer } });
    // A wallet of somebody else is a 401.
    expect([200, 400, 401, 403]).toContain(status);
  });
});
