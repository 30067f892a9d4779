import { createServer } from "node:http";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { scheduledFailure } from "./scheduled.ts";

/** A server whose scheduled work returns this response. */
async function serving(status: number, body: string): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => void (server.listening && (await once(server.close(), "close")));
  onTestFinished(close);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return { url: `http://127.0.0.1:${address.port}`, close };
}

test("scheduled work that succeeds has no failure", async () => {
  const { url } = await serving(200, "ok");
  expect(await scheduledFailure(url)).toBeUndefined();
});

test("scheduled work that throws is reported with the response, and where its cause is", async () => {
  const { url } = await serving(500, "exception");
  expect(await scheduledFailure(url)).toMatch(/500 exception; .*scheduled_step_failed/);
});

test("a server that can't be reached is reported with the cause", async () => {
  const { url, close } = await serving(200, "ok");
  await close();
  expect(await scheduledFailure(url)).toMatch(/couldn't be reached: fetch failed: .*ECONNREFUSED/);
});
