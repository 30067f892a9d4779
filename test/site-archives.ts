import { env, exports } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { continueArchive } from "#worker/services/site-archives/jobs.ts";
import { ARCHIVED, columnsOf, nameOf } from "#worker/services/site-archives/tables.ts";
import { releaseSite } from "#worker/services/sites/placement.ts";
import { SiteArchive } from "#worker/services/site-archives/schemas.ts";
import { ORIGIN } from "./harness.ts";

const SUPER = { "Tifo-Super-Key": env.TIFO_SUPER_KEY };

type Archive = z.output<typeof SiteArchive>;
type Json = Record<string, unknown>;

const Job = SiteArchive.extend({ url: z.string().nullable() });

/** Takes a job's steps until it has ended. The queue would take them too, but only after its batch timeout. */
async function ended(job: Archive, read: () => Promise<Response>): Promise<Archive> {
  return vi.waitUntil(
    async () => {
      await continueArchive(
        { env, db: siteDb(env, job.siteId) },
        { kind: "siteArchive", siteId: job.siteId, archiveId: job._id },
        Date.now,
      );
      const now = Job.parse(await (await read()).json());
      return ["complete", "failed"].includes(now.status) ? now : false;
    },
    { interval: 20 },
  );
}

/** Exports a site and returns the archive. */
export async function exportSite(siteId: string, developerKey: string): Promise<string> {
  const headers = { "Tifo-Client-Id": siteId, "Tifo-Developer-Key": developerKey };
  const started = Job.parse(await (await exports.default.fetch(`${ORIGIN}/site/v1/export`, { method: "POST", headers })).json());
  const job = await ended(started, () => exports.default.fetch(`${ORIGIN}/site/v1/export/${started._id}`, { headers }));
  if (job.url === null) throw new Error(`The export failed: ${job.message}`);
  return (await exports.default.fetch(job.url)).text();
}

/** Imports an archive as this site and returns how that ended. */
export async function importSite(siteId: string, content: string | Uint8Array<ArrayBuffer>): Promise<Archive> {
  const headers = { ...SUPER, "Content-Type": "text/x-ndjson" };
  const body = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const response = await exports.default.fetch(`${ORIGIN}/site/v1/import?siteId=${siteId}`, { method: "POST", headers, body });
  const started = Job.parse(await response.json());
  return ended(started, () => exports.default.fetch(`${ORIGIN}/site/v1/import/${started._id}`, { headers: SUPER }));
}

/** An archive as the body of a request. */
export function streamOf(content: string): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(content));
      controller.close();
    },
  });
}

/** Everything that the archived tables have of a site, by table. */
export async function rowsOf(siteId: string): Promise<Record<string, Json[]>> {
  const found: Record<string, Json[]> = {};
  for (const each of ARCHIVED) {
    const columns = Object.fromEntries([...columnsOf(each)].map(([name, column]) => [name, sql<unknown>`${column}`.as(name)]));
    const rows: Json[] = await siteDb(env, siteId).select(columns).from(each.table).where(eq(each.site, siteId));
    if (rows.length > 0) found[nameOf(each)] = rows.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  return found;
}

/** Deletes everything that the archived tables have of a site. */
export async function removeSite(siteId: string): Promise<void> {
  const db = siteDb(env, siteId);
  for (const each of ARCHIVED.toReversed()) await db.delete(each.table).where(eq(each.site, siteId));
  await releaseSite(env, siteId);
}

/** The archive with each line changed, or left out by null; digests and counts of pieces are those of the result. */
export async function forged(text: string, change: (line: Json) => Json | null): Promise<string> {
  const out: string[] = [];
  let piece: string[] = [];
  for (const each of text.trimEnd().split("\n")) {
    const line = change(z.record(z.string(), z.unknown()).parse(JSON.parse(each)));
    if (!line) continue;
    if ("format" in line || "end" in line) out.push(`${JSON.stringify(line)}\n`);
    else if ("piece" in line) {
      const rows = piece.filter((one) => one.startsWith('{"row"')).length;
      out.push(...piece, `${JSON.stringify({ ...line, rows, sha256: await sha256(piece.join("")) })}\n`);
      piece = [];
    } else piece.push(`${JSON.stringify(line)}\n`);
  }
  return out.join("");
}
