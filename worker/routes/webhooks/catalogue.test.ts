import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { operations } from "#test/openapi.ts";
import { WEBHOOK_SERVICES } from "#db/enums.ts";
import { signEventData, signingKeys } from "#worker/services/webhooks/signature.ts";
import { SAMPLE_SECRET } from "#worker/services/webhooks/deliveries.ts";
import { Catalogue, WebhookPayload } from "#worker/services/webhooks/endpoint-schemas.ts";

// Followed by those that Tifo adds.
const OF_THE_SPECIFICATION = WEBHOOK_SERVICES.slice(0, 9);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

describe("samples", () => {
  test.each(["new_account", "entitlement_purchased"])(
    "of %s are complete deliveries, signed with the sample secret",
    async (sampleName) => {
      const response = await site.call("getWebhookSample", { as: "nobody", query: { sampleName } });
      const payload = response.as(WebhookPayload.strict());
      expect(payload.eventData.type).toBe(sampleName);
      const { method, originPath } = payload;
      expect(operations.some((operation) => operation.method === method?.toLowerCase() && operation.path === originPath)).toBe(true);
      expect(OF_THE_SPECIFICATION).toContain(payload.service);
      expect(payload.signature).toBe(await signEventData(await signingKeys(SAMPLE_SECRET), JSON.stringify(payload.eventData)));
    },
  );

  test("with an unknown name are a 400", async () => {
    const response = await site.call("getWebhookSample", { as: "nobody", query: { sampleName: "old_account" } });
    expect(response).toMatchObject({ status: 400, problem: { issues: [{ path: "sampleName", message: "Invalid sample name" }] } });
    expect((await site.call("getWebhookSample", { as: "nobody" })).status).toBe(400);
  });
});

describe("the catalogue", () => {
  test("publicly lists every event type once, with its services, a schema and a sample", async () => {
    const { results } = (await site.call("getWebhookCatalogue", { as: "nobody" })).as(Catalogue);
    const types = results.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(["new_account", "entitlement_purchased", "admin.wentLive", "overlay.broadcast"]));
    expect(new Set(types).size).toBe(types.length);
    for (const { type, services, schema, sample } of results) {
      expect(sample.type).toBe(type);
      expect(services.length, type).toBeGreaterThan(0);
      expect(schema.type, type).toBe("object");
    }
  });
});
