import { beforeEach, describe, expect, test } from "vitest";
import type { z } from "@hono/zod-openapi";
import { type ApiResponse, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { settings, URL } from "#test/webhook-calls.ts";
import { EVENTS, servicesOf } from "#worker/services/event-catalogue/event-catalogue.ts";
import type { EventKind } from "#worker/services/event-catalogue/event-kind.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";

let site: TestSite;

beforeEach(async () => {
  site = await newSite();
});

async function withKey(roles: string[], operationId: string, options: { body?: unknown; params?: Record<string, string> } = {}) {
  return site.call(operationId, { ...options, as: "client", headers: { "Tifo-Developer-Key": await site.addKey(roles) } });
}

const rejected = ({ status, problem }: ApiResponse) => [status, problem?.code];

type Events = z.output<typeof EventList>["results"];

test("the event feed has personal data only for keys that may read accounts, and ids for others", async () => {
  const email = "vera@people.example";
  await site.call("createAccount", { body: { email, password: PASSWORD, name: "Vera Secret" } });
  await site.call("createNavigation", { body: { name: "Menu", entries: [] } });
  const read = async (roles: string[]): Promise<{ text: string; results: Events }> => {
    const response = await withKey(roles, "listEvents");
    return { text: response.text, results: response.as(EventList).results };
  };
  const full = await read(["webhooks:read", "account:read"]);
  const reduced = await read(["webhooks:read"]);
  expect(full.text).toContain(email);
  for (const text of [email, "Vera Secret", "vera secret"]) expect(reduced.text).not.toContain(text);
  const newAccountOf = (results: Events) => results.find(({ type }) => type === "new_account")?.data;
  expect(newAccountOf(reduced.results)).toEqual({ _id: newAccountOf(full.results)?._id, siteId: site.id });
  // Everything else is the same, event by event.
  const others = (results: Events) => results.filter(({ type }) => !servicesOf(type).includes("account-service-v3"));
  expect(others(reduced.results)).toEqual(others(full.results));
  expect(reduced.results.map(({ sequence }) => sequence)).toEqual(full.results.map(({ sequence }) => sequence));
  expect((await read(["*"])).text).toContain(email);
});

test("only events of account-service-v3 have fields for email addresses, names of people or devices", () => {
  const personal = Object.entries<EventKind>(EVENTS).filter(([, { data }]) =>
    ["email", "normalizedName", "thirdPartyAuthProviders", "deviceId", "address"].some((field) => field in data.shape),
  );
  expect(personal.length).toBeGreaterThan(4);
  for (const [type] of personal) expect(servicesOf(type), type).toContain("account-service-v3");
});

describe("a key with only webhooks:write", () => {
  const roles = ["webhooks:write"];
  const OTHERS = ["overlay-service-v1"];

  test("can't send personal data anywhere", async () => {
    const account = ["account-service-v3"];
    expect(rejected(await withKey(roles, "createWebhooks", { body: settings(URL, account) }))).toEqual([403, "forbidden"]);
    expect(rejected(await withKey(roles, "replaceWebhooks", { body: settings(URL, { "account-service-v3": true }) }))).toEqual([
      403,
      "forbidden",
    ]);
    const body = { webhookUrl: URL, service: "account-service-v3" };
    expect(rejected(await withKey(roles, "createProgrammaticWebhook", { body }))).toEqual([403, "forbidden"]);
    expect((await withKey([...roles, "account:read"], "createProgrammaticWebhook", { body })).status).toBe(201);
  });

  test("can neither move an endpoint that receives personal data nor subscribe one to it", async () => {
    await site.call("createWebhooks", { body: settings(URL, ["account-service-v3"]) });
    // Pending deliveries would go to the new URL, whatever its subscriptions.
    expect(rejected(await withKey(roles, "replaceWebhooks", { body: settings("https://evil.example/", OTHERS) }))).toEqual([
      403,
      "forbidden",
    ]);
    await site.call("replaceWebhooks", { body: settings(URL, OTHERS) });
    const on = { webhookSubscriptions: { "account-service-v3": true } };
    expect(rejected(await withKey(roles, "updateWebhookSubscriptions", { body: on }))).toEqual([403, "forbidden"]);
    expect((await withKey([...roles, "account:read"], "updateWebhookSubscriptions", { body: on })).status).toBe(204);
  });

  test("can configure endpoints for all other events", async () => {
    expect((await withKey(roles, "createWebhooks", { body: settings(URL, OTHERS) })).status).toBe(201);
    const body = { webhookUrl: URL, service: "overlay-service-v1" };
    expect((await withKey(roles, "createProgrammaticWebhook", { body })).status).toBe(201);
  });
});
