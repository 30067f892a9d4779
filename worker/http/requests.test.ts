import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { type Operation, operations } from "#test/openapi.ts";
import { newId } from "#worker/lib/ids.ts";
import { Poll } from "#worker/services/polls/schemas.ts";
import { Problem } from "./errors.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

describe("a request from a browser", () => {
  test("is rejected with a developer key unless the site lists its origin", async () => {
    const from = (Origin: string) => site.call("listOverlays", { headers: { Origin } });
    expect((await from("https://elsewhere.example")).problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await from("null")).status).toBe(403);
    expect((await from("https://demo.example.evil.example")).status).toBe(403);
    expect((await from("https://demo.example")).status).toBe(200);
    expect((await from(ORIGIN)).status).toBe(200);
  });

  test("doesn't reveal with a wrong key whether its origin is listed", async () => {
    const headers = { Origin: "https://elsewhere.example", "Tifo-Developer-Key": "wrong" };
    expect((await site.call("listOverlays", { as: "client", headers })).status).toBe(401);
  });

  test("is rejected with the operator's key", async () => {
    const query = { siteIds: site.id };
    expect((await site.call("getConcurrents", { query, headers: { Origin: "https://demo.example" } })).status).toBe(403);
    expect((await site.call("getConcurrents", { query, headers: { Origin: ORIGIN } })).status).toBe(200);
  });

  test("is readable from any origin for viewers, errors included", async () => {
    const headers = { Origin: "https://elsewhere.example" };
    const responses = [
      await site.call("listPages", { headers }),
      await site.call("listAccounts", { as: "admin", headers }),
      await site.call("listAccounts", { as: "viewer", headers }),
    ];
    expect(responses.map((response) => response.status)).toEqual([200, 200, 403]);
    for (const response of responses) {
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
      expect(response.headers.get("Access-Control-Expose-Headers")).toContain("Tifo-Request-Id");
    }
  });

  test("needs no credentials for its preflight", async () => {
    const headers = {
      Origin: "https://elsewhere.example",
      "Access-Control-Request-Method": "PUT",
      "Access-Control-Request-Headers": "tifo-client-id,authorization",
    };
    const response = await exports.default.fetch(`${ORIGIN}/page/v2/5eed0000000000000000c001`, { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(response.headers.get("Access-Control-Allow-Methods")).toContain("PUT");
    expect(response.headers.get("Access-Control-Allow-Headers")).toBe("tifo-client-id,authorization");
    expect(response.headers.get("Access-Control-Max-Age")).toBe("86400");
  });
});

test("every response disables type sniffing and requires https", async () => {
  const params = { id: site.channels[0] };
  const page = await site.call("getPage", { params });
  const known = await site.call("getPage", { params, headers: { "If-None-Match": page.headers.get("ETag") ?? "" } });
  const fetched = (path: string, init: RequestInit = {}) => exports.default.fetch(ORIGIN + path, init);
  const responses = [
    page,
    known,
    await site.call("getPage", { params: { id: newId(5) } }),
    await site.call("listAccounts", { as: "viewer" }),
    await fetched("/auth/v2/nothing"),
    await fetched("/auth/v2/login", { method: "DELETE" }),
    await fetched("/page/v2", { method: "OPTIONS", headers: { Origin: "https://elsewhere.example" } }),
    await fetched(`/realtime/v1/channels/${site.channels[0]}?clientId=${site.id}`),
    await fetched("/health"),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 304, 404, 403, 404, 405, 204, 426, 200]);
  for (const { headers } of responses) {
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Strict-Transport-Security")).toBe("max-age=31536000");
  }
});

describe("a method that a path does not support", () => {
  test("is a 405 that lists the supported ones", async () => {
    const response = await exports.default.fetch(`${ORIGIN}/auth/v2/login/`, { method: "DELETE" });
    expect([response.status, response.headers.get("Allow")]).toEqual([405, "POST"]);
    expect(await response.json()).toMatchObject({ success: false, code: "method_not_allowed" });
  });

  test("is a 404 if the path has no operations", async () => {
    const response = await exports.default.fetch(`${ORIGIN}/auth/v2/nothing`, { method: "DELETE" });
    expect([response.status, response.headers.get("Allow")]).toEqual([404, null]);
  });
});

describe("a request id", () => {
  test("is the caller's if it is well-formed, and is in the header, problem and log", async () => {
    const id = "trace:goal-17.home_9";
    const response = await site.call("getPage", { params: { id: "x" }, headers: { "Tifo-Request-Id": id } });
    expect([response.headers.get("Tifo-Request-Id"), response.problem?.requestId, response.log.requestId]).toEqual([id, id, id]);
  });

  test.for(["short", "with a space", "a".repeat(101), "new\tline", '{"level":"error"}'])("is generated instead of %j", async (given) => {
    const response = await exports.default.fetch(`${ORIGIN}/health`, { headers: { "Tifo-Request-Id": given } });
    expect(response.headers.get("Tifo-Request-Id")).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});

describe("an unknown path", () => {
  test.for([
    ["GET", "/page/v3"],
    ["GET", "/page/v2/a/b/c"],
    ["PUT", "/site"],
    ["GET", "/overlay/v1//"],
  ])("is not found: %s %s", async ([method, path]) => {
    const response = await exports.default.fetch(ORIGIN + path, { method });
    expect(Problem.parse(await response.json())).toMatchObject({ status: 404, code: "not_found" });
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });
});

describe("a version that the caller already has", () => {
  test("is not sent again, for every form of If-None-Match", async () => {
    const params = { id: site.channels[0] };
    const tag = (await site.call("getPage", { params })).headers.get("ETag") ?? "";
    const known = async (value: string) => (await site.call("getPage", { params, headers: { "If-None-Match": value } })).status;
    expect(await known(tag)).toBe(304);
    expect(await known(`W/${tag}`)).toBe(304);
    expect(await known(`"other", ${tag}`)).toBe(304);
    expect(await known("*")).toBe(304);
    expect(await known('"other"')).toBe(200);
  });

  test("is not confirmed to callers that may not read it", async () => {
    const params = { id: site.accounts.admin.id };
    const tag = (await site.call("getAccount", { params })).headers.get("ETag") ?? "";
    expect((await site.call("getAccount", { as: "viewer", params, headers: { "If-None-Match": tag } })).status).toBe(403);
  });
});

test("an unexpected failure exposes no internals, and its cause is logged", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(env.DB, "prepare").mockImplementation(() => {
    throw new Error("D1_ERROR: no such column: hunter2");
  });
  const headers = { "Tifo-Client-Id": "5eed0000000000000000ffff", "Tifo-Request-Id": "request-that-fails" };
  const response = await exports.default.fetch(`${ORIGIN}/page/v2`, { headers });
  const lines = printed.mock.calls.join();
  vi.restoreAllMocks();
  const text = await response.text();
  const problem = { status: 500, code: "internal", message: "Something went wrong on our side", requestId: "request-that-fails" };
  expect(Problem.parse(JSON.parse(text))).toMatchObject(problem);
  expect(text).not.toContain("hunter2");
  expect(lines).toContain("hunter2");
  expect(lines).toContain("request-that-fails");
});

describe("a number in a query", () => {
  const isNumber = ({ in: place, schema }: Operation["parameters"][number]) =>
    place === "query" && (schema.type === "integer" || schema.type === "number") && schema.enum === undefined;
  const cases = operations.flatMap(({ operationId, parameters }) =>
    parameters
      .filter((parameter) => isNumber(parameter) && parameter.name !== "sortDirection")
      .map(({ name }) => [operationId, name] as const),
  );

  test("is a parameter of many operations", () => {
    expect(cases.length).toBeGreaterThan(50);
  });

  test.for(cases)("of %s accepts only decimal digits: %s", async ([operationId, name]) => {
    const texts = [" ", "", "0x5", "1e2", "+5", "5 ", "5n", "Infinity", "٥"];
    for (const text of texts) expect(await site.call(operationId, { query: { [name]: text } })).toMatchObject({ status: 400 });
    expect((await site.call(operationId, { query: { [name]: "0x5" } })).fields).toContain(name);
  });
});

describe("half of a surrogate pair, which strict clients couldn't read", () => {
  const halves = { question: "Who wins\ud83d?", name: "\ude00", answers: [{ answer: "Us\ud83d" }, { answer: "😀" }] };

  test("becomes U+FFFD in a body, with or without an Idempotency-Key, and is stored like that", async () => {
    const body = new Blob([JSON.stringify({ siteId: site.id, type: "poll", open: true, ...halves })], { type: "application/json" });
    const repeatable: Record<string, string> = { "Idempotency-Key": "halves" };
    for (const headers of [{}, repeatable, repeatable]) {
      const created = await site.call("createPoll", { body, headers });
      expect(created).toMatchObject({
        status: 201,
        body: { question: "Who wins\ufffd?", name: "\ufffd", answers: [{ answer: "Us\ufffd" }, { answer: "😀" }] },
      });
      const { _id: id } = created.as(Poll);
      expect((await site.call("getPoll", { params: { id } })).body).toEqual(created.body);
    }
  });
});

describe("an optional body", () => {
  test("may be empty with a JSON content type, with or without an Idempotency-Key", async () => {
    const empty = () => new Blob([], { type: "application/json" });
    const repeatable: Record<string, string> = { "Idempotency-Key": "empty-body" };
    for (const headers of [undefined, repeatable])
      expect((await site.call("clearBroadcasts", { body: empty(), ...(headers && { headers }) })).status).toBe(200);
    const response = await exports.default.fetch(`${ORIGIN}/overlay/v1/clear-broadcast`, {
      method: "POST",
      headers: { ...(await site.headersOf("developer")), "Content-Type": "application/json" },
      // Without a length, as in chunks.
      body: new ReadableStream({ start: (controller) => controller.close() }),
    });
    expect(response.status).toBe(200);
  });

  test("is malformed if it isn't JSON", async () => {
    const blank = new Blob([" "], { type: "application/json" });
    expect((await site.call("clearBroadcasts", { body: blank })).problem).toMatchObject({ status: 400, code: "malformed_json" });
  });

  test("is malformed if it is empty but required", async () => {
    const empty = new Blob([], { type: "application/json" });
    expect((await site.call("createApiKey", { body: empty })).problem).toMatchObject({ status: 400, code: "malformed_json" });
  });
});
