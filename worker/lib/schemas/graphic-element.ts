import { z } from "@hono/zod-openapi";
import { POSITIONS } from "#db/enums.ts";
import { KitKey } from "#worker/lib/schemas/overlay-kit/kit.ts";

const skipAnimation = z.boolean().optional().describe("Whether it happens without animation");

/** What a graphic does once a broadcast shows it, in OGraf's terms. */
export const GraphicAction = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("play"),
      goto: z.number().int().min(0).max(1_000).optional().describe("The step to play; default: the next one"),
      delta: z.number().int().min(-1_000).max(1_000).optional().describe("How many steps to go forward, or back if negative"),
      skipAnimation,
    }),
    z.strictObject({ type: z.literal("stop"), skipAnimation }),
    z.strictObject({
      type: z.literal("custom"),
      id: z.string().min(1).max(200).describe("A custom action of the graphic"),
      payload: z.unknown().optional().describe("What the action's schema describes"),
      skipAnimation,
    }),
  ])
  .openapi("OverlayAction");
export type GraphicAction = z.output<typeof GraphicAction>;

/** A graphic as viewers receive it. */
export const ShownGraphicElement = z.object({
  kind: z.literal("ograf"),
  graphic: z.string().describe("Its document is at `/overlay/v1/graphics/{graphic}/frame`"),
  key: KitKey.describe("A later element with the same graphic and key updates this one in place"),
  width: z.number().int().describe("The width in pixels that it is laid out for"),
  data: z.record(z.string(), z.unknown()),
  actions: z.array(GraphicAction).describe("What it does once it is shown, in order"),
  position: z.enum(POSITIONS).describe("Where its buttons are: the graphic itself covers the video"),
});
export type ShownGraphicElement = z.output<typeof ShownGraphicElement>;
