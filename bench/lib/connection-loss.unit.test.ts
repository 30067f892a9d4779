import { createServer } from "node:net";
import { once } from "node:events";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import * as report from "#scripts/lib/report.mjs";
import { ConnectionLost, MAX_REPEATS, repeatIfLost } from "./connection-loss.ts";
import { ask } from "./http.ts";
import { type Contender, runRounds, type Reading } from "./rounds.ts";
import { Crowd } from "./viewers.ts";

let lines: string[];

beforeEach(() => {
  lines = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  onTestFinished(() => write.mockRestore());
});

/** A server that closes each connection as soon as it receives data. */
async function startClosingServer(): Promise<number> {
  const server = createServer((socket) => socket.on("error", () => undefined).on("data", () => socket.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}

test("a round that loses a connection is repeated as a whole, and the benchmark reports it", async () => {
  const started: string[] = [];
  const contender = (name: string): Contender => ({
    name,
    start: async () => {
      started.push(name);
      return { port: 0, group: 0, stop: async () => undefined };
    },
  });
  let measured = 0;
  const measure = async (): Promise<Reading[]> => {
    if (++measured === 2) throw new ConnectionLost("The server closed the connection");
    return [{ cell: "c", value: measured, usage: { seconds: 1, client: 0, others: 0, server: 0 } }];
  };
  const rounds = await runRounds({ contenders: [contender("ours"), contender("theirs")], rounds: 1, measure });
  expect(started).toEqual(["ours", "theirs", "ours", "theirs", "ours"]);
  expect(rounds.map((round) => round.get("ours")?.map(({ value }) => value))).toEqual([[3, 5]]);
  expect(lines.join("")).toContain("round 1 lost a connection and is repeated: The server closed the connection");
});

test("work that loses a connection every time fails with a problem after the maximum number of repeats", async () => {
  const work = vi.fn().mockRejectedValue(new ConnectionLost("gone"));
  await expect(repeatIfLost("round 1", work)).rejects.toThrow(report.Problem);
  expect(work).toHaveBeenCalledTimes(MAX_REPEATS + 1);
});

test("any other error ends the work immediately", async () => {
  const work = vi.fn().mockRejectedValue(new Error("Not counted"));
  await expect(repeatIfLost("round 1", work)).rejects.toThrow("Not counted");
  expect(work).toHaveBeenCalledTimes(1);
});

test("a request whose connection is closed before the response counts as a lost connection", async () => {
  await expect(ask(await startClosingServer(), "GET", "/")).rejects.toThrow(ConnectionLost);
});

test("a fetch whose connection is closed before the response counts as a lost connection", async () => {
  const port = await startClosingServer();
  await expect(repeatIfLost("round 1", () => fetch(`http://127.0.0.1:${port}`))).rejects.toThrow(report.Problem);
});

test("a crowd that has lost a viewer rejects when broadcasts are awaited later", async () => {
  const crowd = new Crowd(1);
  crowd.lose(new ConnectionLost("gone"));
  await expect(crowd.receives(1)).rejects.toThrow(ConnectionLost);
});
