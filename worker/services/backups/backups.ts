import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import type { Db } from "#db/client.ts";
import { type ArchiveRow, isUnfinished, siteArchives } from "#db/schema/site-archives.ts";
import { sites } from "#db/schema/sites.ts";
import { conflict, notFound } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { ctxOf, dbOf, everyShard, fromEveryDb } from "#worker/services/core/databases.ts";
import { newImport, readPieces } from "#worker/services/site-archives/archives.ts";
import { claimDeletion, deleteArchive, enqueueArchive } from "#worker/services/site-archives/jobs.ts";
import { placeImport } from "#worker/services/sites/placement.ts";
import { backupJob, isNoSandbox } from "./nightly.ts";
import type { BackupQuery } from "./schemas.ts";

// Only for the operator.

const isBackup = sql`${siteArchives.kind} = 'backup'`;

/** The newest backups of all sites, or of one. */
export async function listBackups(ctx: Ctx, { siteId, status, before, limit }: z.output<typeof BackupQuery>): Promise<ArchiveRow[]> {
  await ctx.caller();
  const state = {
    running: isUnfinished,
    complete: sql`${siteArchives.status} = 'complete'`,
    failed: sql`${siteArchives.status} = 'failed'`,
  };
  const matches = and(
    isBackup,
    siteId === undefined ? undefined : eq(siteArchives.siteId, siteId),
    before === undefined ? undefined : lt(siteArchives.created, before),
    status && state[status],
  );
  const found = await fromEveryDb(ctx, (db) =>
    db.select().from(siteArchives).where(matches).orderBy(desc(siteArchives.created), desc(siteArchives.id)).limit(limit),
  );
  return found.sort((one, other) => other.created - one.created || (one.id < other.id ? 1 : -1)).slice(0, limit);
}

export async function getBackup(ctx: Ctx, id: string): Promise<ArchiveRow> {
  return (await findBackup(ctx, id)).backup;
}

/** A backup, and where its row is: not always with its site, which may be gone, or imported elsewhere since. */
interface Found {
  backup: ArchiveRow;
  shard: number;
  db: Db;
}

async function findBackup(ctx: Ctx, id: string): Promise<Found> {
  await ctx.caller();
  const matches = and(eq(siteArchives.id, id), isBackup);
  const found = await Promise.all(
    everyShard(ctx).map(async ([shard, db]) => {
      const [backup] = await db.select().from(siteArchives).where(matches);
      return backup ? [{ backup, shard, db }] : [];
    }),
  );
  const [first] = found.flat();
  if (!first) throw notFound("Backup not found");
  return first;
}

/** Starts a backup of a site now, unless one is running: then that one. */
export async function startBackup(ctx: Ctx, siteId: string): Promise<ArchiveRow> {
  await ctx.caller();
  const db = dbOf(ctx, siteId);
  const [[site], [kept], [running]] = await db.batch([
    db.select({ id: sites.id }).from(sites).where(eq(sites.id, siteId)),
    db
      .select({ id: sites.id })
      .from(sites)
      .where(and(eq(sites.id, siteId), isNoSandbox(db))),
    db
      .select()
      .from(siteArchives)
      .where(and(eq(siteArchives.siteId, siteId), isBackup, isUnfinished)),
  ]);
  if (!site) throw notFound("Site not found");
  if (!kept) throw conflict("A sandbox has no backups");
  if (running) return running;
  const job = backupJob(siteId, ctx.now);
  await db.insert(siteArchives).values(job);
  ctx.defer(enqueueArchive(ctx.env, job));
  return job;
}

/** Imports a backup into its site: what the site is missing is added, and if it doesn't exist, it appears where the backup is. */
export async function restoreBackup(ctx: Ctx, id: string): Promise<ArchiveRow> {
  const { backup, shard, db } = await requireComplete(ctx, id);
  await placeImport(ctx, backup.siteId, shard);
  const own = ctxOf(ctx, backup.siteId);
  const job = { ...(await newImport(own)), bytes: backup.bytes, pieces: backup.pieces };
  await own.db.insert(siteArchives).values(job);
  const [present] = await db
    .select({ id: siteArchives.id })
    .from(siteArchives)
    .where(and(eq(siteArchives.id, id), isBackup, sql`${siteArchives.status} = 'complete'`));
  // A deletion that began before this job was there hasn't seen it.
  if (!present) {
    await own.db.delete(siteArchives).where(eq(siteArchives.id, job.id));
    throw conflict("The backup is being deleted");
  }
  ctx.defer(enqueueArchive(ctx.env, job));
  return job;
}

/** Deletes a backup with its objects, unless it is running or an import of its site may be reading it. */
export async function deleteBackup(ctx: Ctx, id: string): Promise<void> {
  const { backup, db } = await findBackup(ctx, id);
  if (backup.status !== "complete" && backup.status !== "failed") throw conflict("The backup is running");
  if (!(await claimDeletion(db, backup))) throw conflict(BEING_READ);
  // An import of a site that is on another database now, which the claim doesn't see. One that starts later sees the claim.
  const imports = and(eq(siteArchives.siteId, backup.siteId), sql`${siteArchives.kind} = 'import'`, isUnfinished);
  if ((await dbOf(ctx, backup.siteId).$count(siteArchives, imports)) > 0) {
    const { status, message } = backup;
    await db.update(siteArchives).set({ status, message }).where(eq(siteArchives.id, id));
    throw conflict(BEING_READ);
  }
  while (!(await deleteArchive({ ...ctx, db }, backup)));
}

const BEING_READ = "An import of the site is running, which may be reading the backup";

/** The file of a backup, piece by piece. */
export async function openBackup(ctx: Ctx, id: string): Promise<{ backup: ArchiveRow; text: AsyncGenerator<string, void> }> {
  const { backup } = await requireComplete(ctx, id);
  return { backup, text: readPieces(ctx.env, backup) };
}

async function requireComplete(ctx: Ctx, id: string): Promise<Found> {
  const found = await findBackup(ctx, id);
  if (found.backup.status !== "complete") throw conflict("The backup isn't complete");
  return found;
}
