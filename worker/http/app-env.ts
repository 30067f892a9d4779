import type { Context, Next } from "hono";
import type { D1Usage } from "#db/client.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { Identity } from "#worker/services/auth/identity.ts";
import type { OperationPolicy } from "./operation-policy.ts";

/** One step of an operation's pipeline. */
export type Step = (c: Context<AppEnv, string>, next: Next) => Promise<void>;

/** What a request carries through the middleware; nothing of it lives longer than the request. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    /** Unset where no operation matches. */
    operation: OperationPolicy | undefined;
    ctx: Ctx;
    /** The check of the credentials; set together with `ctx`. */
    identity: Identity;
    /** Takes the operation's rate limit; unset where it has none, or where its first read takes it. */
    admit: (() => Promise<void>) | undefined;
    usage: D1Usage;
  };
}
