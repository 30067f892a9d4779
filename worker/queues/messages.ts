import { z } from "@hono/zod-openapi";

/** Messages of the job queue: references to work, never its data. Each may be delivered twice. */
const MemberExportJob = z.object({ kind: z.literal("memberExport"), siteId: z.string(), exportId: z.string() });
const SiteArchiveJob = z.object({ kind: z.literal("siteArchive"), siteId: z.string(), archiveId: z.string() });
const SiteMoveJob = z.object({ kind: z.literal("siteMove"), siteId: z.string() });

export const Job = z.discriminatedUnion("kind", [MemberExportJob, SiteArchiveJob, SiteMoveJob]);

export type MemberExportJob = z.output<typeof MemberExportJob>;
export type SiteArchiveJob = z.output<typeof SiteArchiveJob>;
export type SiteMoveJob = z.output<typeof SiteMoveJob>;
export type Job = z.output<typeof Job>;
