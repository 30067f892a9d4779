import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { RuntimeLog } from "./runtime-log.ts";

const FAILED =
  "✘ [ERROR] e = rust/cxx/kj-rs-io/ffi.rs:176: failed: getaddrinfo(): DNS lookup failed. host = hooks.demo.example; service = (none); failed to lookup address information\n\n  stack: /app/workerd@57ff0c0 /app/workerd@2eddf30\n\n\n";

/** The output for a log that arrives in these chunks. */
function shown(...chunks: string[]): Promise<string> {
  return text(Readable.from(chunks).pipe(new RuntimeLog()));
}

test("the log names an unresolvable host once, and omits native stack traces", async () => {
  const log = await shown(FAILED, FAILED, FAILED.replace("hooks.", "cdn."));
  expect(log).toBe(
    ["hooks", "cdn"]
      .map((name) => `The host ${name}.demo.example can't be resolved here, so calls to it fail. This is logged once per host.\n`)
      .join(""),
  );
});

test("the log keeps all other lines unchanged, with the blank lines between them", async () => {
  const lines = '{"level":"error","event":"scheduled_step_failed"}\n\n✘ [ERROR] Uncaught Error: nope\n\n    at work (index.js:1:2)\nno end';
  expect(await shown(lines)).toBe(`${lines}\n`);
});

test("the log doesn't depend on chunk boundaries", async () => {
  const whole = `before\n${FAILED}after\n`;
  expect(await shown(...whole)).toBe(await shown(whole));
});
