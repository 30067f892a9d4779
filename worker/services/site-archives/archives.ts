import { and, eq, gt } from "drizzle-orm";
import { apiKeys, sites } from "#db/schema/sites.ts";
import { type ArchiveRow, isUnfinished, siteArchives } from "#db/schema/site-archives.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import { Failure, forbidden, notFound } from "#worker/lib/errors.ts";
import { keyAllows } from "#worker/lib/roles.ts";
import { commit, type Ctx, newRow, ownRow } from "#worker/services/core/context.ts";
import { ctxOf, dbOf, fromEveryDb } from "#worker/services/core/databases.ts";
import { KEY_AREAS } from "#worker/services/sites/api-key-schemas.ts";
import { placeImport } from "#worker/services/sites/placement.ts";
import { prefixOf } from "./export.ts";
import { enqueueArchive, RETENTION_MS } from "./jobs.ts";
import { toArchiveEvent } from "./schemas.ts";
import { storeStream } from "./upload.ts";

const PURPOSE = "site archive";
const LINK_MS = 60 * 60_000;

/** What a key must be able to read for an export: everything. */
export const EXPORT_ROLES = KEY_AREAS.filter((area) => area !== "roles").map((area) => `${area}:read`);

/** Starts an export of the site, unless one is running. */
export async function startExport(ctx: Ctx): Promise<ArchiveRow> {
  const actor = await ctx.caller();
  requireAll(actor.kind === "developer" ? actor.roles : []);
  const [running] = await ctx.db
    .select()
    .from(siteArchives)
    .where(and(eq(siteArchives.siteId, ctx.siteId), eq(siteArchives.kind, "export"), isUnfinished));
  if (running) return running;
  const job = newJob(ctx, "export");
  await commit(ctx, ctx.db.insert(siteArchives).values(job), {
    type: "site.exportRequested",
    resource: `sitearchive/${job.id}`,
    data: toArchiveEvent(job),
  });
  ctx.defer(enqueueArchive(ctx.env, job));
  return job;
}

/** The state of an export, and a token that downloads it once it is complete. */
export async function getArchive(ctx: Ctx, id: string): Promise<{ job: ArchiveRow; token: string | null }> {
  const [job] = await ctx.db
    .select()
    .from(siteArchives)
    .where(and(ownRow(ctx, siteArchives, id), eq(siteArchives.kind, "export")));
  if (!job) throw notFound("Export not found");
  const actor = await ctx.caller();
  if (job.status !== "complete" || actor.kind !== "developer") return { job, token: null };
  requireAll(actor.roles);
  const expires = Math.min(ctx.now + LINK_MS, job.created + RETENTION_MS);
  return { job, token: await signContent(ctx.env, PURPOSE, `${job.siteId}.${job.id}.${actor.id}.${expires}`) };
}

/** Opens the file of a download link, piece by piece. The link ends with the key that got it. */
export async function openArchive(ctx: Ctx, token: string): Promise<{ job: ArchiveRow; text: AsyncGenerator<string, void> }> {
  const [siteId = "", id = "", keyId = "", expires] = (await readSigned(ctx.env, PURPOSE, token))?.split(".") ?? [];
  const invalidLink = notFound("The link is unknown or has expired");
  if (expires === undefined || Number(expires) <= ctx.now) throw invalidLink;
  const db = dbOf(ctx, siteId);
  const [[job], [key]] = await db.batch([
    db
      .select()
      .from(siteArchives)
      .where(and(eq(siteArchives.id, id), eq(siteArchives.siteId, siteId), eq(siteArchives.status, "complete"))),
    db
      .select({ roles: apiKeys.roles, expires: apiKeys.expires })
      .from(apiKeys)
      .where(and(eq(apiKeys.id, keyId), eq(apiKeys.siteId, siteId))),
  ]);
  if (!job || !key || (key.expires !== null && key.expires <= ctx.now) || missingRoles(key.roles).length > 0) throw invalidLink;
  return { job, text: readPieces(ctx.env, job) };
}

/** The file of an archive, piece by piece. */
export async function* readPieces(env: Env, { pieces }: Pick<ArchiveRow, "pieces">): AsyncGenerator<string, void> {
  for (const { key } of pieces) {
    const object = await env.MEDIA.get(key);
    if (!object) throw new Error("A piece of an archive is missing");
    yield await object.text();
  }
}

/** Stores an archive and starts its import: of a site that doesn't exist here, or into the same site. Only for the operator. */
export async function startImport(ctx: Ctx, siteId: string, body: ReadableStream<Uint8Array>): Promise<ArchiveRow> {
  await ctx.caller();
  await placeImport(ctx, siteId);
  const own = ctxOf(ctx, siteId);
  const job = await newImport(own);
  const key = `${prefixOf(job)}upload`;
  const bytes = await storeStream(ctx.env.MEDIA, key, body, "text/x-ndjson");
  const uploaded = { ...job, bytes, pieces: [{ key, bytes }] };
  await own.db.insert(siteArchives).values(uploaded);
  ctx.defer(enqueueArchive(ctx.env, uploaded));
  return uploaded;
}

/** An import of the context's site, with nothing to import yet; a 409 while another one is running. */
export async function newImport(ctx: Ctx): Promise<ArchiveRow> {
  const { siteId } = ctx;
  const [[site], running] = await ctx.db.batch([
    ctx.db.select({ id: sites.id }).from(sites).where(eq(sites.id, siteId)),
    ctx.db
      .select({ id: siteArchives.id })
      .from(siteArchives)
      .where(
        and(
          eq(siteArchives.siteId, siteId),
          eq(siteArchives.kind, "import"),
          isUnfinished,
          gt(siteArchives.created, ctx.now - RETENTION_MS),
        ),
      ),
  ]);
  if (running.length > 0) throw new Failure("conflict", "An import of this site is already running");
  return { ...newJob(ctx, "import"), hadSite: site !== undefined };
}

/** The state of an import. Only for the operator. */
export async function getImport(ctx: Ctx, id: string): Promise<ArchiveRow> {
  const isImport = and(eq(siteArchives.id, id), eq(siteArchives.kind, "import"));
  const [job] = await fromEveryDb(ctx, (db) => db.select().from(siteArchives).where(isImport));
  if (!job) throw notFound("Import not found");
  return job;
}

/** An archive has what every area has, so a key needs to be able to read all of them. */
function requireAll(roles: string[]): void {
  const missing = missingRoles(roles);
  if (missing.length > 0) throw forbidden(`The developer key also needs ${missing.join(", ")}`);
}

function missingRoles(roles: string[]): string[] {
  return EXPORT_ROLES.filter((role) => !keyAllows(roles, role.split(":")[0] ?? "", "read"));
}

export function newJob(ctx: Pick<Ctx, "siteId" | "now">, kind: ArchiveRow["kind"]): ArchiveRow {
  return {
    ...newRow(ctx),
    kind,
    status: kind === "import" ? "pending" : "exporting",
    tableIndex: 0,
    lastRow: 0,
    offset: 0,
    piece: 0,
    hadSite: true,
    rows: 0,
    bytes: 0,
    skipped: 0,
    pieces: [],
    message: null,
    lease: ctx.now,
    attempts: 0,
    completed: null,
  };
}
