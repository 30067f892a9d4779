import { expect, test } from "vitest";
import { type Form, requestOf } from "./request.ts";

const form: Form = {
  method: "PUT",
  path: "/poll/v3/{id}/answers",
  fields: [
    { name: "id", in: "path", required: true, value: "p 1" },
    { name: "limit", in: "query", required: false, value: "" },
    { name: "Tifo-Client-Id", in: "header", required: true, value: "site" },
  ],
  body: { type: "application/json", text: "[]" },
};

test("fills the path and leaves empty fields out", () => {
  const { url, init } = requestOf(form, {}, "[1]");
  expect(url).toBe("/poll/v3/p%201/answers");
  expect(init.body).toBe("[1]");
  expect(Object.fromEntries(new Headers(init.headers))).toEqual({ "tifo-client-id": "site", "content-type": "application/json" });
});

test("sends what the reader typed instead of the initial values", () => {
  const { url, init } = requestOf(form, { "query.limit": "2", "header.Tifo-Client-Id": "" }, "[]");
  expect(url).toBe("/poll/v3/p%201/answers?limit=2");
  expect(new Headers(init.headers).has("Tifo-Client-Id")).toBe(false);
});
