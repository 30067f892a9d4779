import { expect, test } from "vitest";
import { endpointTerm, namesEndpoint, requestIn } from "./endpoints.ts";

test("a request is read with its method, its path and parameters of any kind", () => {
  expect(requestIn("PUT /poll/v3/{id}/answers")).toEqual({ method: "put", path: "/poll/v3/{}/answers" });
  expect(requestIn("/poll/v3/:id")).toEqual({ method: undefined, path: "/poll/v3/{}" });
  expect(requestIn("get https://tifo.example.com/poll/v3/5eed0000000000000000b001?limit=1")).toEqual({
    method: "get",
    path: "/poll/v3/{}",
  });
  expect(requestIn("/poll/v3/")).toEqual({ method: undefined, path: "/poll/v3" });
});

test("other text is no request", () => {
  for (const text of ["create a poll", "get a poll", "pub/sub", "text/event-stream", ""]) expect(requestIn(text), text).toBeUndefined();
});

test("a request without a method names all endpoints of its path", () => {
  const [get, put, answers] = ["GET /poll/v3/{id}", "PUT /poll/v3/{id}", "PUT /poll/v3/{id}/answers"].map(endpointTerm);
  expect([get, put, answers].map((term) => namesEndpoint({ method: undefined, path: "/poll/v3/{}" }, term ?? ""))).toEqual([
    true,
    true,
    false,
  ]);
  expect([get, put, answers].map((term) => namesEndpoint({ method: "put", path: "/poll/v3/{}" }, term ?? ""))).toEqual([
    false,
    true,
    false,
  ]);
});
