import { z } from "@hono/zod-openapi";

// Captures the Worker's request log, since the Worker runs in the same isolate as the tests, and keeps it out of their output.

const Line = z.looseObject({
  level: z.string(),
  requestId: z.string(),
  method: z.string(),
  route: z.string().optional(),
  status: z.number(),
  ms: z.number(),
  siteId: z.string().optional(),
  d1: z.object({ roundTrips: z.number(), statements: z.number() }),
  cause: z.string().optional(),
});

export type LogLine = z.infer<typeof Line>;

const lines = new Map<string, LogLine>();

for (const level of ["log", "error"] as const) {
  const print = console[level].bind(console);
  console[level] = (...values: unknown[]): void => {
    const line = readLine(values[0]);
    if (line) lines.set(line.requestId, line);
    else print(...values);
  };
}

/** The log line of a completed request. */
export function takeLogLine(requestId: string): LogLine {
  const line = lines.get(requestId);
  if (!line) throw new Error(`There is no log line for the request ${requestId}`);
  lines.delete(requestId);
  return line;
}

function readLine(value: unknown): LogLine | undefined {
  if (typeof value !== "string" || !value.startsWith("{")) return undefined;
  return Line.safeParse(JSON.parse(value)).data;
}
