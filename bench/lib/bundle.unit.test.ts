import { expect, test } from "vitest";
import { startUpModules } from "./bundle.ts";

/** What only later work needs: that of the queue, the cron, the event log's effects, an area's routes, and large libraries. */
const LATER = [
  /^worker\/(queues\/jobs|scheduled)\.ts$/,
  /^worker\/services\/event-catalogue\/(effects|event-catalogue)\.ts$/,
  /^worker\/services\/(automation-rules\/firings|manifests\/cue-sources|rundowns\/due|schedule\/run|(qna|stats)\/viewers)\.ts$/,
  /^worker\/routes\/[^/]+\/routes\.ts$/,
  /^node_modules\/(jose|stripe|parse5|temporal-polyfill|otpauth|@modelcontextprotocol|@handlebars|@zip\.js)\//,
];
const MAX_BYTES = 1_000_000;

test("the Worker starts without what only later work needs", async () => {
  const modules = await startUpModules("worker/index.ts");
  expect([...modules.keys()].filter((path) => LATER.some((pattern) => pattern.test(path)))).toEqual([]);
  // More than the app alone, so that the imports have been followed.
  expect(modules.has("worker/durable-objects/relay/relay.ts")).toBe(true);
  const bytes = [...modules.values()].reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(MAX_BYTES / 2);
  expect(bytes).toBeLessThan(MAX_BYTES);
});
