import type { Context, Next } from "hono";
import type { D1Usage } from "#db/client.ts";
import type { RequestSessions } from "#db/sessions.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { IsolateMetrics } from "#worker/services/operations/isolate-metrics.ts";
import type { ErrorCode } from "#worker/lib/errors.ts";
import type { Identity } from "#worker/services/auth/identity.ts";
import type { OperationPolicy } from "./operation-policy.ts";

/** One step of an operation's pipeline. */
export type Step = (c: Context<AppEnv, string>, next: Next) => Promise<void>;

/** The values that a request's middleware share. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    /** Unset if no operation matches. */
    operation: OperationPolicy | undefined;
    ctx: Ctx;
    /** With read replicas only. */
    sessions: RequestSessions | undefined;
    /** The check of the credentials; set together with `ctx`. */
    identity: Identity;
    /** Takes the operation's rate limit; unset if it has none, or if its first read takes it. */
    admit: (() => Promise<void>) | undefined;
    usage: D1Usage;
    /** The code of the error that is returned, if one is. */
    errorCode: ErrorCode | undefined;
    /** Of the isolate: the only value that outlives the request. */
    metrics: IsolateMetrics;
  };
}
