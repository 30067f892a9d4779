import { expect, test } from "vitest";
import { cursorOf, type LoggedRequest, matchesRequest, routesOf, sampleText, statusClassOf, toneOf } from "./request-log.ts";

function newRequest(change: Partial<LoggedRequest> = {}): LoggedRequest {
  const base = { requestId: "req-Aa1", at: 1, method: "GET", route: "/page/v2/{id}", operationId: "getPage", status: 404, ms: 3 };
  return { ...base, code: "not_found", ...change };
}

test.each(["", "get /page", "404", "NOT_FOUND", "aa1 "])("a request is found by %j", (text) => {
  expect(matchesRequest(newRequest(), text)).toBe(true);
});

test("a request without route or error isn't found by what it lacks", () => {
  const unmatched = newRequest({ route: null, operationId: null, code: null });
  expect(matchesRequest(unmatched, "null")).toBe(false);
  expect(matchesRequest(unmatched, "page")).toBe(false);
});

test("the routes to choose from are those of the requests, each once, and the chosen one", () => {
  const requests = [newRequest(), newRequest({ route: "/overlay/v1" }), newRequest(), newRequest({ route: null })];
  expect(routesOf(requests, "")).toEqual(["/overlay/v1", "/page/v2/{id}"]);
  expect(routesOf([], "/site/v1")).toEqual(["/site/v1"]);
});

test("the count says if only a part of the requests was recorded", () => {
  expect(sampleText({ requests: 1, share: 1, recording: true })).toBe("1 request in the last hour.");
  const sampled = "12,000 requests in the last hour. So many that 2.5 % of them were recorded.";
  expect(sampleText({ requests: 12_000, share: 0.025, recording: true })).toBe(sampled);
  expect(sampleText({ requests: 0, share: 0, recording: false })).toBe("");
});

test("only a status class of the list is taken from the address", () => {
  expect([statusClassOf("4xx"), statusClassOf("9xx"), statusClassOf(undefined)]).toEqual(["4xx", undefined, undefined]);
});

test("a status is coloured by its class", () => {
  expect([101, 200, 304, 400, 499, 500, 503].map(toneOf)).toEqual([
    ...["success", "success", "success", "rejected", "rejected", "failed", "failed"],
  ]);
});

test("the cursor is read from the next page's address", () => {
  expect(cursorOf("/insights/v1/requests?limit=3&cursor=17.4")).toBe("17.4");
  expect(cursorOf(null)).toBeUndefined();
});
