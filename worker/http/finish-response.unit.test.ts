import { Hono } from "hono";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { ERRORS, Failure, SiteHostFailure } from "#worker/lib/errors.ts";
import type { AppEnv } from "./app-env.ts";
import { createFinishResponse } from "./finish-response.ts";

const Line = z.object({ level: z.string(), status: z.number(), sampled: z.number().optional() });
const LINES_PER_SECOND = 5;

let logged: z.infer<typeof Line>[];

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  logged = [];
  for (const method of ["log", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((line) => void logged.push(Line.parse(JSON.parse(String(line)))));
  }
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Responds to each request with the status, or with the failure that it throws. */
function isolate(): (next: number | Failure) => Promise<Response> {
  const app = new Hono<AppEnv>();
  app.use(createFinishResponse());
  let thrown: number | Failure;
  app.get("/", () => {
    if (thrown instanceof Failure) throw thrown;
    return new Response(null, { status: thrown });
  });
  app.onError((error, c) => {
    if (!(error instanceof Failure)) throw error;
    c.set("errorCode", error.code);
    return new Response(null, { status: ERRORS[error.code].status });
  });
  return async (next) => {
    thrown = next;
    return app.request(
      "/",
      {},
      { TIFO_LOG_LINES: String(LINES_PER_SECOND), TIFO_REQUEST_LOG: "off", TIFO_ALERT_URL: "", TIFO_ALERT_EMAIL: "" },
    );
  };
}

test.each([
  ["internal", "error"],
  ["unavailable", "error"],
  ["format_not_supported", "info"],
  ["billing_not_configured", "info"],
  ["games_not_configured", "info"],
  ["not_found", "info"],
] as const)("a response with %s is logged as %s", async (code, level) => {
  await isolate()(new Failure(code));
  expect(logged).toEqual([{ level, status: ERRORS[code].status }]);
});

test.each(["unavailable", "shop_failed"] as const)("a %s that a site's own host causes is no error of the deployment", async (code) => {
  await isolate()(new SiteHostFailure(code));
  expect(logged).toEqual([{ level: "info", status: ERRORS[code].status }]);
});

test("a flood of errors is sampled, too, and neither hides nor is hidden by other requests", async () => {
  const respond = isolate();
  for (let request = 0; request < LINES_PER_SECOND + 200; request++) {
    await respond(200);
    await respond(new Failure("internal"));
  }
  for (const status of [200, 500]) {
    const weights = logged.filter((line) => line.status === status).map(({ sampled = 1 }) => sampled);
    expect(weights).toEqual([...Array<number>(LINES_PER_SECOND).fill(1), 100, 100]);
  }
});
