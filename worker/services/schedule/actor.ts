import type { ScheduledBy } from "#db/types.ts";
import { forbidden } from "#worker/lib/errors.ts";
import { actorNow } from "#worker/services/auth/current-caller.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";

/** Who arranged something for later, with the rights that they have now; nobody is the system itself. */
export async function currentActor(ctx: Ctx, scheduledBy: ScheduledBy | null): Promise<Actor> {
  if (scheduledBy === null) return { kind: "system" };
  const { kind, id } = scheduledBy;
  const before: Actor = kind === "developer" ? { kind, id, roles: [] } : { kind, id, sessionId: "", roles: [], tags: [] };
  const actor = await actorNow(ctx, before, ctx.now);
  if (actor) return actor;
  throw forbidden(
    kind === "developer" ? "The developer key that scheduled it no longer works" : "The account that scheduled it was deleted",
  );
}
