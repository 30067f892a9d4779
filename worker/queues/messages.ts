import { z } from "@hono/zod-openapi";

/** Messages of the job queue: references to work, never its data. Each may be delivered twice. */
export const Job = z.discriminatedUnion("kind", [z.object({ kind: z.literal("memberExport"), siteId: z.string(), exportId: z.string() })]);

export type Job = z.output<typeof Job>;
