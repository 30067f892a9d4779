import type { D1Usage } from "#db/client.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { Identity } from "#worker/services/auth/identity.ts";

/** What a request carries through the middleware; nothing of it lives longer than the request. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    /** The path of the operation that answers; unset where there is none. */
    route: string | undefined;
    /** What a body that can't be read as the operation's is told; unset where no sentence of its own is known for that. */
    refusal: string | undefined;
    ctx: Ctx;
    /** Whether the operation's change commutes with others of the same row. */
    commutes: boolean;
    /** Unset until the operation has looked at the credentials. */
    identity: Identity | undefined;
    usage: D1Usage;
  };
}
