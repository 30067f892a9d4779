import { expect, test } from "vitest";
import { draft, validCall } from "#test/contract-requests.ts";
import { newSite, send, strongestCaller, type TestSite } from "#test/harness.ts";
import { operationOf } from "#test/openapi.ts";
import { dataProviderInput, newDataProvider, signatureOf } from "#test/providers.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";

/** Operations that change one resource, in each area. */
const CHANGES = [
  "updatePage",
  "updateOverlay",
  "patchPanel",
  "replacePanel",
  "updateNavigation",
  "updateCustomTheme",
  "updatePlaylist",
  "updateVideo",
  "patchPoll",
  "replacePoll",
  "replaceQuest",
  "updateCalendarEvent",
  "updateSubscription",
  "updateChannelTemplate",
  "updateAutomationRule",
  "updateAccount",
  "setAccountTags",
  "addAccountTags",
  "setRoles",
  "updateSite",
  "rotateApiKey",
  "rotateDataProviderSecret",
];
/** Operations that create the resource if it doesn't exist. */
const UPSERTS = ["replaceWebhooks", "upsertAccount", "upsertCalendarEvent", "putSenderEmail", "putReceiptTemplate"];

/** Sends one valid change several times concurrently. */
async function sendConcurrently(site: TestSite, operationId: string, times: number, headers: Record<string, string> = {}) {
  const operation = operationOf(operationId);
  const call = await validCall(site, operation);
  const { url, headers: own, body } = draft(site, operation, call, await site.headersOf(strongestCaller(operation)));
  const init = { method: operation.method.toUpperCase(), headers: { ...own, ...headers }, body };
  return Promise.all(Array.from({ length: times }, () => send(operation, url, init)));
}

test.for(CHANGES)("%s: one of several concurrent requests with the same If-Match returns 200, all others 412", async (operationId) => {
  const site = await newSite();
  const responses = await sendConcurrently(site, operationId, 4, { "If-Match": '"v1"' });
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
});

test.for(CHANGES)("%s: two concurrent requests both succeed, and each has its event", async (operationId) => {
  const site = await newSite();
  const responses = await sendConcurrently(site, operationId, 2);
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  const operation = operationOf(operationId);
  const events = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList).results;
  const requests = events.map(({ requestId }) => requestId);
  for (const { headers } of responses) {
    const id = headers.get("Tifo-Request-Id");
    expect(requests.filter((one) => one === id).length, operation.path).toBeGreaterThanOrEqual(1);
  }
});

test.for(UPSERTS)(
  "%s: two concurrent requests both succeed if the resource didn't exist, and If-Match needs an existing one",
  async (operationId) => {
    const site = await newSite();
    const missing = await sendConcurrently(site, operationId, 2, { "If-Match": '"v1"' });
    expect(missing.map(({ status }) => status)).toEqual([412, 412]);
    const responses = await sendConcurrently(site, operationId, 2);
    for (const { status } of responses) expect([200, 201]).toContain(status);
    const again = await sendConcurrently(site, operationId, 3, { "If-Match": '"v2"' });
    for (const { status } of again) expect([200, 412]).toContain(status);
  },
);

test("two concurrent changes of a data provider both succeed, though its row was read to check the signature", async () => {
  const site = await newSite();
  const own = await newDataProvider(site);
  const change = async (name: string, headers: Record<string, string> = {}) => {
    const body = dataProviderInput({ name });
    const signature = await signatureOf(own.secret, JSON.stringify(body));
    return site.call("updateDataProvider", { as: "client", params: { id: own.id }, body, headers: { ...signature, ...headers } });
  };
  const responses = await Promise.all(["a", "b"].map((name) => change(name)));
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  const matched = await Promise.all(["a", "b", "c"].map((name) => change(name, { "If-Match": '"v3"' })));
  expect(matched.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
});

test("concurrent additions of tags all succeed, and none is lost", async () => {
  const site = await newSite();
  const { id } = site.accounts.viewer;
  const add = (tag: string) => site.call("addAccountTags", { params: { id }, body: { tags: [tag] } });
  const responses = await Promise.all(Array.from({ length: 8 }, (_, number) => add(`tag:${number}`)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  const account = (await site.call("getAccount", { params: { id } })).as(Account);
  expect(account.tags).toEqual(expect.arrayContaining(Array.from({ length: 8 }, (_, number) => `tag:${number}`)));
});

test("a change that is rerun under an Idempotency-Key is applied once, and its response is replayed", async () => {
  const site = await newSite();
  const { id } = site.accounts.viewer;
  const add = (tag: string) =>
    site.call("addAccountTags", { params: { id }, body: { tags: [tag] }, headers: { "Idempotency-Key": `key-${tag}` } });
  const first = await Promise.all(["a", "b", "c", "d"].map(add));
  const again = await Promise.all(["a", "b", "c", "d"].map(add));
  expect(first.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
  const events = (await site.call("listEvents")).as(EventList).results.filter(({ type }) => type === "account.tagsUpdated");
  expect(events).toHaveLength(4);
});
