import { findGames, type GameQuery, type Games } from "../integrations/games.ts";
import type { Ctx } from "./context.ts";

/** Games by name, from the database outside. */
export async function searchGames(ctx: Ctx, query: GameQuery): Promise<Games> {
  await ctx.caller();
  return findGames(ctx.env, query, ctx.now);
}
