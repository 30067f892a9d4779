import { z } from "@hono/zod-openapi";

/** A provider's event as sent to the Automation object; `at` is in epoch milliseconds. */
export const ProviderEventMessage = z.object({
  id: z.string(),
  providerId: z.string(),
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
});
export type ProviderEventMessage = z.infer<typeof ProviderEventMessage>;
