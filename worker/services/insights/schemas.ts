import { z } from "@hono/zod-openapi";
import { Id } from "#worker/lib/schemas/common.ts";

export const ConcurrentsQuery = z.strictObject({
  siteIds: z
    .string()
    .max(5000)
    .transform((list) => [...new Set(list.split(",").map((id) => id.trim()))])
    .pipe(z.array(Id).min(1).max(50))
    .openapi({ type: "string", description: "Comma-separated, at most 50", example: "5eed00000000000000000001" }),
});

export const SiteConcurrents = z
  .object({
    siteId: Id,
    concurrents: z.number().int().describe("Viewers currently connected"),
    totalViews: z.number().int().describe("Distinct devices today (UTC); at most 1,000 per IP address, unless the deployment allows more"),
    channels: z.array(z.object({ _id: Id, slug: z.string(), concurrents: z.number().int() })),
  })
  .openapi("SiteConcurrents");

export const ConcurrentsList = z.array(SiteConcurrents).openapi("SiteConcurrentsList");

export const Limit = z
  .object({
    name: z.string().openapi({ example: "broadcast" }),
    description: z.string(),
    per: z.string().describe("What the limit is counted per"),
    limit: z.number().int(),
    window: z.number().int().describe("Seconds"),
    remaining: z.number().int().nullable().describe("Null if it depends on more than the caller's credentials, such as an account"),
    reset: z.number().int().nullable().describe("Seconds until the window resets"),
  })
  .openapi("Limit");

export const LimitList = z.object({ limits: z.array(Limit) }).openapi("LimitList");
