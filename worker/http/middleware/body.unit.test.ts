import { describe, expect, test } from "vitest";
import { type Run, runSteps, uncheckedCaller } from "#test/middleware-app.ts";
import { unauthenticated } from "#worker/lib/errors.ts";
import { bufferBody, dropEmptyBody, limitBody, repairJson } from "./body.ts";

const echo: Run["handler"] = async (c) => c.text(await c.req.text());

/** A body whose length is not known from the start. */
function stream(...chunks: string[]): ReadableStream {
  return new Blob(chunks).stream();
}

describe("the size of a body", () => {
  test("may reach the maximum, with or without a declared length", async () => {
    const declared = { body: "1234", headers: { "Content-Length": "4" } };
    for (const request of [declared, { body: stream("12", "34") }, {}])
      expect((await runSteps([limitBody(4)], { ...request, handler: echo })).status).toBe(200);
  });

  test.for([
    ["a declared length", { body: "12345", headers: { "Content-Length": "5" } }],
    ["a stream", { body: stream("123", "45") }],
  ] as const)("is a 413 above the maximum, for %s", async ([, request]) => {
    expect(await runSteps([limitBody(4)], { ...request, handler: echo })).toMatchObject({ code: "payload_too_large" });
  });

  test("is a 401 above the maximum where the credentials are wrong", async () => {
    const request = { body: "12345", headers: { "Content-Length": "5" }, check: uncheckedCaller(unauthenticated()) };
    expect(await runSteps([limitBody(4)], request)).toMatchObject({ code: "unauthenticated", log: ["check the caller"] });
  });
});

describe("an optional body", () => {
  test("loses its Content-Type when it is empty", async () => {
    const seen: unknown[] = [];
    const handler: Run["handler"] = async (c) => {
      seen.push([c.req.header("Content-Type"), await c.req.text()]);
      return c.text("done");
    };
    for (const body of ["", "{}"]) await runSteps([dropEmptyBody], { headers: { "Content-Type": "application/json" }, body, handler });
    expect(seen).toEqual([
      [undefined, ""],
      ["application/json", "{}"],
    ]);
  });
});

describe("a JSON body", () => {
  test("has a replacement for each half of a character, and no other body has", async () => {
    const text = String.raw`{"a\ud800":"\udc00 \ud83d\ude00"}`;
    for (const [type, expected] of [
      ["application/json; charset=utf-8", String.raw`{"a\ufffd":"\ufffd \ud83d\ude00"}`],
      ["text/plain", text],
    ] as const) {
      let read: string | undefined;
      const handler: Run["handler"] = async (c) => c.text((read = await c.req.text()));
      await runSteps([repairJson], { body: stream(text), headers: { "Content-Type": type }, handler });
      expect(read).toBe(expected);
    }
  });
});

describe("a signed body", () => {
  test("is buffered up to the maximum and can be read again", async () => {
    let text: string | undefined;
    const handler: Run["handler"] = async (c) => {
      await bufferBody(c, 4);
      text = await c.req.text();
      return c.text(text);
    };
    expect((await runSteps([], { body: stream("12", "34"), handler })).status).toBe(200);
    expect(text).toBe("1234");
    expect(await runSteps([], { body: stream("123", "45"), handler })).toMatchObject({ code: "payload_too_large" });
  });
});
