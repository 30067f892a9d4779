import { type Context, Hono, type Next } from "hono";
import { siteDb } from "#db/databases.ts";
import { sites } from "#db/schema/sites.ts";
import type { AppEnv, Step } from "#worker/http/app-env.ts";
import { ANYONE } from "#worker/http/credentials.ts";
import { toFailure } from "#worker/http/errors.ts";
import { inOrder } from "#worker/http/middleware/pipeline.ts";
import { type OperationPolicy, type OperationSpec, policyOf } from "#worker/http/operation-policy.ts";
import { ERRORS } from "#worker/lib/errors.ts";
import type { Actor } from "#worker/services/core/context.ts";
import { Identity, type IdentityCheck } from "#worker/services/auth/identity.ts";

/** The policy of an operation that declares only this. */
export function newPolicy(spec: Partial<OperationSpec> = {}): OperationPolicy {
  return policyOf({
    operationId: "changeThing",
    tag: "Things",
    method: "put",
    path: "/things/v1/{id}",
    summary: "",
    description: "",
    access: { credentials: ANYONE },
    request: {},
    responses: { 200: { description: "" } },
    ...spec,
  });
}

/** Credentials that D1 has to verify; the check throws `error` if there is one. */
export function uncheckedCaller(error?: Error, actor: Actor = { kind: "anonymous" }): IdentityCheck {
  return {
    siteId: "",
    query: { sql: "check the caller", params: [] },
    confirm: () => {
      if (error) throw error;
      return actor;
    },
  };
}

export interface Run {
  check?: IdentityCheck;
  /** Don't set `identity` and `ctx`, for steps that do it themselves, such as `authenticate`. */
  bare?: boolean;
  handler?: (c: Context<AppEnv>, next: Next) => Response | Promise<Response>;
  headers?: Record<string, string>;
  body?: BodyInit;
  /** How many requests the limit still allows. */
  quota?: number;
}

/** The outcome of a request; `log` lists its queries, limit checks and the handler in order. */
export interface Outcome {
  log: string[];
  status: number;
  code: string | undefined;
  headers: Headers;
}

/** Runs a request through pipeline steps and a handler, with a database and a Limiter that only write to the log. */
export async function runSteps(
  steps: Step[],
  { check = uncheckedCaller(), bare = false, handler = (c) => c.text("done"), headers, body, quota = 1000 }: Run = {},
): Promise<Outcome> {
  const log: string[] = [];
  let code: string | undefined;
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("usage", { roundTrips: 0, statements: 0 });
    c.set("operation", newPolicy());
    if (!bare) setCaller(c, check);
    await next();
  });
  app.put("/things", inOrder(steps), (c, next) => {
    log.push("run the handler");
    return handler(c, next);
  });
  app.onError((error, c) => {
    const failure = toFailure(error);
    code = failure.code === "internal" ? error.message : failure.code;
    return c.text(failure.message, ERRORS[failure.code].status);
  });
  const request = { method: "PUT", headers, body, duplex: "half" };
  const { status, headers: responseHeaders } = await app.request("/things", request, {
    DB: newDatabase(log),
    LIMITER: newLimiter(log, quota),
  });
  return { log, status, code, headers: responseHeaders };
}

/** A query by the handler. */
export function readSites(c: Context<AppEnv>): Promise<unknown> {
  return c.get("ctx").db.select({ id: sites.id }).from(sites);
}

function setCaller(c: Context<AppEnv>, check: IdentityCheck): void {
  const identity = new Identity(check, () => undefined);
  c.set("identity", identity);
  c.set("ctx", {
    env: c.env,
    // A new site for each run, because used-up limits are cached per site.
    siteId: crypto.randomUUID(),
    db: siteDb(c.env, "", identity, c.get("usage")),
    now: 0,
    requestId: "",
    caller: () => identity.confirm(c.env, c.get("usage")),
    ifMatch: undefined,
    deviceId: c.req.header("Tifo-Device-Id"),
    emitted: { siteIds: new Set(), completedEventIds: [] },
    defer: () => undefined,
  });
}

function newDatabase(log: string[]) {
  const bound = (sql: string) => {
    const name = sql.startsWith("check") ? sql : sql.slice(0, "select".length);
    return { name, raw: async () => (log.push(name), [["row"]]) };
  };
  return {
    prepare: (sql: string) => ({ bind: () => bound(sql) }),
    batch: async (statements: { name: string }[]) => {
      log.push(statements.map(({ name }) => name).join(" with "));
      return statements.map(() => ({ results: [{ value: "row" }] }));
    },
  };
}

function newLimiter(log: string[], quota: number) {
  const takeAll = async (slots: { name: string }[]) => {
    log.push(`take from ${slots.map(({ name }) => name).join()}`);
    const remaining = quota - log.filter((entry) => entry.startsWith("take")).length;
    return [{ allowed: remaining >= 0, remaining, reset: 1, final: false }];
  };
  return { getByName: () => ({ takeAll }) };
}
