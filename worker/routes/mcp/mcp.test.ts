import { exports } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, test } from "vitest";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { callTool, confirmationIn, rpc, type ToolText } from "#test/mcp-client.ts";
import { derby, outcomes } from "#test/polls.ts";
import { TASKS } from "#test/mcp-tasks.ts";

let site: TestSite;
let developer: Record<string, string>;

beforeAll(async () => {
  site = await newSite();
  POLL.body.siteId = site.id;
  developer = await site.headersOf("developer");
});

const POLL = { operationId: "createPoll", body: { ...derby, siteId: "", question: "Who scores first?", answers: outcomes } };

async function confirmed(input: Record<string, unknown>, headers: Record<string, string>): Promise<ToolText> {
  const first = await callTool("call_operation", input, headers);
  const confirmation = confirmationIn(first);
  return confirmation === "" ? first : callTool("call_operation", { ...input, confirmation }, headers);
}

async function polls(of: TestSite): Promise<number> {
  const { body } = await of.call("listPolls");
  return z.object({ pagination: z.object({ totalCount: z.number() }) }).parse(body).pagination.totalCount;
}

test("lists two tools in at most 1,500 tokens", async () => {
  const { result } = await rpc("tools/list", {});
  const { tools } = z.object({ tools: z.array(z.looseObject({ name: z.string() })) }).parse(result);
  expect(tools.map(({ name }) => name)).toEqual(["search_operations", "call_operation"]);
  // JSON has three characters per token or more.
  expect(JSON.stringify(tools).length / 3).toBeLessThan(1500);
});

describe.each(TASKS)("an agent asked to: $ask", ({ ask, operationId, call, status = 200 }) => {
  test("finds the operation among the first three, and calls it", async () => {
    const { text } = await callTool("search_operations", { query: ask });
    const found = text.split("\n").map((line) => line.split(":")[0]);
    expect(found.slice(0, 3)).toContain(operationId);
    const response = await confirmed({ operationId, ...call?.(site) }, developer);
    expect(response.text.split("\n")[0]).toBe(`HTTP ${status}`);
    expect(response.isError).toBe(status >= 400);
  });
});

test("returns an operation's declaration with its schemas for its exact id", async () => {
  const { text } = await callTool("search_operations", { query: "createPoll" });
  const declared = z.looseObject({ path: z.string(), schemas: z.record(z.string(), z.unknown()) }).parse(JSON.parse(text));
  expect(declared.path).toBe("/poll/v3");
  expect(Object.keys(declared.schemas)).not.toHaveLength(0);
  expect(text).toContain("requestBody");
});

test("sends nothing before a write is confirmed", async () => {
  const before = await polls(site);
  const first = await callTool("call_operation", POLL, developer);
  expect(first.text).toContain("Not sent yet");
  expect(await polls(site)).toBe(before);
});

test("says what to search for when nothing matches", async () => {
  const { text } = await callTool("search_operations", { query: "zzzz qqqq" });
  expect(text).toMatch(/^No operation matches\. Try other words: the nouns are /);
});

test("runs a confirmed write once, however often its code is sent", async () => {
  const before = await polls(site);
  const confirmation = confirmationIn(await callTool("call_operation", POLL, developer));
  const first = await callTool("call_operation", { ...POLL, confirmation }, developer);
  const second = await callTool("call_operation", { ...POLL, confirmation }, developer);
  expect(second).toEqual(first);
  expect(first.text).toMatch(/^HTTP 201/);
  expect(await polls(site)).toBe(before + 1);
});

test("rejects a confirmation of another body, another operation or another caller", async () => {
  const confirmation = confirmationIn(await callTool("call_operation", POLL, developer));
  const other = await newSite();
  const attempts = [
    callTool("call_operation", { ...POLL, body: { ...POLL.body, question: "Other" }, confirmation }, developer),
    callTool("call_operation", { operationId: "createQuest", body: POLL.body, confirmation }, developer),
    callTool("call_operation", { ...POLL, confirmation }, await other.headersOf("developer")),
    callTool("call_operation", { ...POLL, confirmation: `${confirmation}x` }, developer),
    callTool("call_operation", { ...POLL, confirmation: "never.issued" }, developer),
  ];
  for (const { text, isError } of await Promise.all(attempts)) {
    expect(text).toContain("The confirmation is for another request");
    expect(isError).toBe(true);
  }
  expect(await polls(other)).toBe(0);
});

test("applies the roles of the key, and rejects a caller without credentials", async () => {
  const key = { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": await site.addKey(["poll:read"]) };
  expect((await callTool("call_operation", { operationId: "listPolls" }, key)).text).toMatch(/^HTTP 200/);
  expect((await confirmed(POLL, key)).text).toMatch(/^HTTP 403/);
  expect((await callTool("call_operation", { operationId: "listPolls" })).text).toMatch(/^HTTP 401/);
});

test("doesn't reach another site's rows", async () => {
  const other = await newSite();
  const id = other.channels[0];
  expect((await callTool("call_operation", { operationId: "getPage", path: { id } }, developer)).text).toMatch(/^HTTP 404/);
});

test("skips the confirmation or forbids writes if the client's configuration says so", async () => {
  const allowed = await callTool("call_operation", POLL, { ...developer, "Tifo-Mcp-Writes": "allow" });
  expect(allowed.text).toMatch(/^HTTP 201/);
  const denied = await callTool("call_operation", POLL, { ...developer, "Tifo-Mcp-Writes": "deny" });
  expect(denied.text).toContain("may only read");
});

test.each([
  ["an unknown operation", { operationId: "createEverything" }, "There is no operation"],
  ["a stream", { operationId: "streamChannel", path: { channelId: "x" } }, "is a stream"],
  ["an upload", { operationId: "uploadMedia" }, "it takes a file"],
  ["an operation of the deployment's operator", { operationId: "getOperatorReport" }, "isn't sent through tools"],
  ["a call without its path parameter", { operationId: "getPoll" }, "Missing in `path`: id"],
  ["a dot segment that leads to another operation", { operationId: "getPoll", path: { id: ".." } }, "dot segments"],
])("rejects %s", async (_, input, message) => {
  const { text, isError } = await callTool("call_operation", input, { ...developer, "Tifo-Super-Key": "tifo_super_demo" });
  expect(text).toContain(message);
  expect(isError).toBe(true);
});

test("rejects a body of more than 256 kB", async () => {
  const response = await exports.default.fetch(`${ORIGIN}/mcp`, { method: "POST", body: "x".repeat(257 * 1024) });
  expect(response.status).toBe(413);
});

test.each([
  ["accept", true, /^HTTP 201/],
  ["decline", false, /Nothing was sent/],
] as const)("asks the user through the client of the official SDK: %s", async (action, agree, expected) => {
  const before = await polls(site);
  const asked: string[] = [];
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message);
    return action === "accept" ? { action, content: { agree } } : { action };
  });
  const toWorker = (url: string | URL, init?: RequestInit) => exports.default.fetch(url, init);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${ORIGIN}/mcp`), { requestInit: { headers: developer }, fetch: toWorker }),
  );
  const { content } = await client.callTool({ name: "call_operation", arguments: POLL });
  await client.close();
  expect(content.map((part) => (part.type === "text" ? part.text : ""))).toEqual([expect.stringMatching(expected)]);
  expect(asked).toEqual([expect.stringContaining("Who scores first?")]);
  expect(await polls(site)).toBe(before + (agree ? 1 : 0));
});
