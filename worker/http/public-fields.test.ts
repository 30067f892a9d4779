import { describe, expect, test } from "vitest";
import { requiresCredentials } from "#test/contract-credentials.ts";
import { newSite } from "#test/harness.ts";
import { operationOf, operations } from "#test/openapi.ts";
import { fieldsInDocument, unlistedFields } from "#test/public-responses.ts";
import { PUBLIC_FIELDS } from "#test/public-fields.ts";

describe("the public fields", () => {
  const documented = fieldsInDocument(operations.filter((operation) => !requiresCredentials(operation)));

  test("are listed for exactly the schemas that unauthenticated callers can read", () => {
    const listed = Object.entries(PUBLIC_FIELDS).map(([name, { shown, withheld }]) => [name, [...shown, ...withheld].sort()] as const);
    const found = [...documented].map(([name, { fields }]) => [name, [...fields].sort()] as const);
    expect(new Map(listed)).toEqual(new Map(found));
  });

  test("never include a withheld field that the document marks as required", () => {
    const promised = Object.entries(PUBLIC_FIELDS).flatMap(([name, { shown, withheld }]) =>
      shown.length === 0 ? [] : withheld.filter((field) => documented.get(name)?.required.has(field)).map((field) => `${name}.${field}`),
    );
    expect(promised).toEqual([]);
  });

  test("are compared with each response, however deeply a field is nested", async () => {
    const site = await newSite();
    const operation = operationOf("getSite");
    const response = (await site.call("getSite", { as: "developer" })).body;
    expect(unlistedFields(operation, 200, response)).toEqual(
      expect.arrayContaining(["SiteAsRead.contractServiceChargeRate", "SiteAsRead.settings.security"]),
    );
    expect(unlistedFields(operation, 200, (await site.call("getSite", { as: "client" })).body)).toEqual([]);
    const price = { currency: "gbp", default: true, value: 1, paymentPlanId: "price_1" };
    expect(unlistedFields(operationOf("listSubscriptions"), 200, { results: [{ sku: "a", prices: [price] }] })).toEqual([
      "SubscriptionPrice.paymentPlanId",
    ]);
  });
});
