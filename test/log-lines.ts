import { z } from "@hono/zod-openapi";

// Reads what the Worker logs, which runs in the same isolate as the tests, and keeps the lines of requests out of their output.

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

/** The line of a request that has been answered. */
export function takeLogLine(requestId: string): LogLine {
  const line = lines.get(requestId);
  if (!line) throw new Error(`The request ${requestId} left no line in the log`);
  lines.delete(requestId);
  return line;
}

function readLine(value: unknown): LogLine | undefined {
  if (typeof value !== "string" || !value.startsWith("{")) return undefined;
  return Line.safeParse(JSON.parse(value)).data;
}
