import { expect, test } from "vitest";
import { DEMO, fill, NONE } from "./credentials.ts";

const sample = `curl ${DEMO.origin}/poll/v1/ -H 'Tifo-Client-Id: ${DEMO.clientId}' -H 'Tifo-Developer-Key: ${DEMO.developerKey}'`;

test("fills a reader's own credentials into a sample", () => {
  const own = { clientId: "0123456789abcdef01234567", developerKey: "tifo_dev_mine", origin: "https://tifo.example.com" };
  expect(fill(sample, own)).toBe(
    "curl https://tifo.example.com/poll/v1/ -H 'Tifo-Client-Id: 0123456789abcdef01234567' -H 'Tifo-Developer-Key: tifo_dev_mine'",
  );
});

test("keeps the demo's credentials if the reader has entered none", () => {
  expect(fill(sample, NONE)).toBe(sample);
  expect(fill(sample, { ...NONE, developerKey: "mine" })).toContain(`Tifo-Client-Id: ${DEMO.clientId}`);
});

test("names the page's own origin unless the reader entered another, for WebSockets too", () => {
  const socket = `new WebSocket("ws://localhost:8787/realtime/v1/channels/1"); fetch("${DEMO.origin}/health")`;
  expect(fill(socket, NONE, "https://tifo.example")).toBe(
    'new WebSocket("wss://tifo.example/realtime/v1/channels/1"); fetch("https://tifo.example/health")',
  );
  expect(fill(sample, { ...NONE, origin: "https://mine.example" }, "https://tifo.example")).toContain("https://mine.example/poll");
});
