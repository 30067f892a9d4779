import { expect, test } from "vitest";
import { IsolateMetrics } from "./isolate-metrics.ts";

const MINUTE = 60_000;
const POLLS = { path: "/poll/v1" };
const SOCKET = { path: "/realtime/v1/channels/{channelId}" };
const get = (status: number, ms: number, failed = status >= 500) => ({ method: "GET", status, failed, ms });

test("an isolate counts requests, rejections and errors by operation, slowest first", () => {
  const metrics = new IsolateMetrics();
  expect(metrics.figures(0)).toMatchObject({ id: null, since: null, requests: 0, routes: [] });
  for (let index = 0; index < 99; index++) metrics.record(POLLS, get(200, 10), MINUTE);
  metrics.record(POLLS, get(500, 400), MINUTE);
  metrics.record(POLLS, get(404, 10), MINUTE);
  metrics.record(SOCKET, get(101, 600), MINUTE);
  metrics.record(undefined, { method: "BREW", status: 404, failed: false, ms: 1 }, MINUTE);
  const { routes, ...isolate } = metrics.figures(MINUTE);
  expect(isolate).toMatchObject({ since: MINUTE, requests: 103, errors: 1, socketsOpened: 1 });
  expect(isolate.id).toMatch(/^[0-9a-f]{8}$/);
  expect(routes.map(({ method, route, requests, rejected, errors }) => [method, route, requests, rejected, errors])).toEqual([
    ["GET", SOCKET.path, 1, 0, 0],
    ["GET", POLLS.path, 101, 1, 1],
    ["*", null, 1, 1, 0],
  ]);
  expect(routes[1]).toMatchObject({ p50: 10, p99: 10 });
});

test("an isolate reports what it has counted every five minutes, each request once", () => {
  const metrics = new IsolateMetrics();
  expect(metrics.takeUnreported(0)).toBeUndefined();
  for (const status of [200, 503, 404]) metrics.record(POLLS, get(status, 1), MINUTE);
  expect(metrics.takeUnreported(4 * MINUTE)).toBeUndefined();
  expect(metrics.takeUnreported(5 * MINUTE)).toEqual({ requests: 3, errors: 1 });
  metrics.record(POLLS, get(500, 1), 6 * MINUTE);
  metrics.record(POLLS, get(501, 1, false), 6 * MINUTE);
  expect(metrics.takeUnreported(9 * MINUTE)).toBeUndefined();
  expect(metrics.takeUnreported(11 * MINUTE)).toEqual({ requests: 2, errors: 1 });
});

test("an isolate's percentiles are of the last five to ten minutes, its counts of its whole life", () => {
  const metrics = new IsolateMetrics();
  metrics.record(POLLS, get(200, 900), 0);
  metrics.record(POLLS, get(200, 10), 6 * MINUTE);
  const at = (minutes: number) => metrics.figures(minutes * MINUTE).routes[0];
  expect(at(9)?.p99).toBeGreaterThanOrEqual(900);
  expect(at(10)).toMatchObject({ p99: 10, requests: 2 });
  expect(at(60)).toMatchObject({ p50: null, p99: null, requests: 2 });
});
