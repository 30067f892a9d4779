import { z } from "@hono/zod-openapi";

/** What the queue of jobs carries: names of work, never the work itself. Each may come twice. */
export const Job = z.discriminatedUnion("kind", [z.object({ kind: z.literal("memberExport"), siteId: z.string(), exportId: z.string() })]);

export type Job = z.output<typeof Job>;
