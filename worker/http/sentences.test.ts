import { beforeAll, expect, test } from "vitest";
import { type CallOptions, newSite, type TestSite } from "#test/harness.ts";

// Messages of 400 responses to malformed requests that integrators rely on. Messages that depend on state
// (streams, invites, roles of quests, global sign-ins) are tested with their areas.

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const REFUND = "Request body was not a valid RefundRequest or The amount refunded must be larger than 0.";
const account = "5eed0000000000000000a003";
const provider = { name: "encoder", canGenerateCaptions: false, canSupport4K: false };

test.for<[message: string, operation: string, options: CallOptions, code?: string]>([
  [REFUND, "refundCharge", { body: {} }],
  [REFUND, "refundCharge", { body: { accountId: account, chargeId: account, reason: "duplicate", amount: 0 } }],
  [REFUND, "refundCharge", { body: malformed() }, "malformed_json"],
  ["Invalid page ID format", "getPage", { params: { id: "main-stage" } }],
  ["Invalid page ID format", "getConfiguration", { params: { pageId: "main-stage" } }],
  ["metadata query parameter is required", "getConfigurationByMetadata", {}],
  ["metadata query parameter is required", "getConfigurationByMetadata", { query: { metadata: "" } }],
  ["Invalid quest", "createQuest", { body: {} }],
  ["Invalid quest", "createQuest", { body: malformed() }, "malformed_json"],
  ["Assertion Error", "registerStreamProvider", { body: provider }],
  ["Assertion Error", "registerStreamProvider", { body: malformed() }, "malformed_json"],
  ["Create Invite in Invite Service failed - The body is not valid", "createInvite", { body: {} }],
  ["Create Invite in Invite Service failed - The body is not valid", "createInvite", { body: malformed() }, "malformed_json"],
  ["Create Invite in Invite Service failed - The body is not valid", "createRegisterInvite", { body: {} }],
  ["Invalid sample name", "getWebhookSample", { query: { sampleName: "old_account" } }],
  ["Missing Webhooks Url", "createProgrammaticWebhook", { body: {} }],
  ["Missing Webhooks Url", "createProgrammaticWebhook", { body: { webhookUrl: "", service: "page-service-v2" } }],
  ["Missing Webhooks Url", "createWebhooks", { body: { webhooks: { enabled: true, webhookSubscriptions: [] } } }],
  ["Missing Webhooks Id", "deleteProgrammaticWebhook", { params: { id: "none" } }],
])("%s is the message of %s for %j", async ([message, operation, options, code = "invalid_request"]) => {
  const { problem } = await site.call(operation, options);
  expect(problem).toMatchObject({ status: 400, code, message });
  if (code === "invalid_request") expect(problem?.issues?.length).toBeGreaterThan(0);
});

test("any other validation message names the fields", async () => {
  const body = { webhookUrl: "https://hooks.demo.example/", service: "chat-service-v1" };
  const { problem } = await site.call("createProgrammaticWebhook", { body });
  expect(problem?.message).toMatch(/^The body is not valid: service: /);
});

function malformed(): Blob {
  return new Blob(["{"], { type: "application/json" });
}
