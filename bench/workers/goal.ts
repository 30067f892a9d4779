import { z } from "@hono/zod-openapi";

// The requests and responses of the HTTP-layer benchmark's routes, the same for all contenders.

export const GoalParam = z.object({ id: z.string().regex(/^[0-9a-f]{24}$/, "24 lowercase hex characters") });

export const Goal = z
  .strictObject({
    scorer: z.string().trim().min(1).max(200),
    minute: z.number().int().min(0).max(130),
    home: z.number().int().min(0),
    away: z.number().int().min(0),
    tags: z.array(z.string().min(1).max(100)).max(50),
    note: z.string().max(500).optional(),
  })
  .openapi("Goal");
export type Goal = z.output<typeof Goal>;

export const GoalAnswer = z.object({ channelId: z.string(), text: z.string(), goal: Goal }).openapi("GoalAnswer");

export function toAnswer(channelId: string, goal: Goal): z.output<typeof GoalAnswer> {
  return { channelId, text: `${goal.minute}′ ${goal.scorer}, ${goal.home}:${goal.away}`, goal };
}
