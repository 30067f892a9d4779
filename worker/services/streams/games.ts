import { findGames, type GameQuery, type Games } from "#worker/integrations/games.ts";
import type { Ctx } from "#worker/services/core/context.ts";

/** Searches the external games database by name. */
export async function searchGames(ctx: Ctx, query: GameQuery): Promise<Games> {
  return findGames(ctx.env, query, ctx.now);
}
