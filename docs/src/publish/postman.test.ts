import { describe, expect, test } from "vitest";
import { areas, operations, VERSION } from "../components/operation/document.ts";
import { postmanCollection } from "./postman.ts";

const collection = postmanCollection(areas, VERSION);
const items = collection.item.flatMap(({ item }) => item);

function itemNamed(operationId: string) {
  const summary = operations.find((operation) => operation.operationId === operationId)?.summary;
  const item = items.find(({ name }) => name === summary);
  if (!item) throw new Error(`The collection has no ${operationId}.`);
  return item;
}

describe("the Postman collection", () => {
  test("contains every operation, at the address that its variable names", () => {
    expect(items).toHaveLength(operations.length);
    for (const { request } of items) expect(request.url.raw).toMatch(/^\{\{baseUrl\}\}\//);
  });

  test("sends the variables' credentials, never the demo's", () => {
    expect(itemNamed("createPoll").request.header).toEqual(
      expect.arrayContaining([
        { key: "Tifo-Client-Id", value: "{{clientId}}" },
        { key: "Tifo-Developer-Key", value: "{{developerKey}}" },
      ]),
    );
    expect(JSON.stringify(collection.item)).not.toContain("tifo_dev_demo");
  });

  test("stores the token of a sign-in for the operations that need one", () => {
    expect(itemNamed("login").event?.[0]?.script.exec.join("\n")).toContain("collectionVariables.set('token', jwt)");
    expect(itemNamed("respondToPoll").request.header).toContainEqual({ key: "Authorization", value: "Bearer {{token}}" });
  });

  test("signs what has to be signed", () => {
    const { event, request } = itemNamed("ingestProviderEvent");
    expect(event?.[0]?.script.exec.join("\n")).toContain("HmacSHA256(pm.variables.replaceIn(pm.request.body.raw)");
    expect(request.header).toContainEqual({ key: "Tifo-Signature", value: "{{signature}}" });
  });
});
