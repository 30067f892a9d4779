import { and, asc, eq, lt, lte, or, sql } from "drizzle-orm";
import { type AccountRow, accounts } from "#db/schema/accounts.ts";
import { type ExportRow, memberExports } from "#db/schema/commerce/exports.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { wonRace, notFound } from "#worker/lib/errors.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import type { MemberExportJob } from "#worker/queues/messages.ts";
import { toExportEvent } from "./schemas.ts";
import { administersSite, effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import { accountColumns } from "#worker/services/accounts/columns.ts";
import {
  callerAccount,
  commit,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  ownRow,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { ctxOf } from "#worker/services/core/databases.ts";
import { asSystem } from "#worker/services/core/system.ts";

type Worker = Pick<Ctx, "env" | "db">;

const PURPOSE = "member export";
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Members per chunk, the most that is held in memory. */
const CHUNK_ROWS = 2_000;
/** Chunks that one queue message writes before it enqueues the next. */
const CHUNKS_PER_RUN = 50;
/** How long an export is locked after the last sign of life from its worker. */
const LEASE_MS = 30_000;
const RETRY_DELAY_MS = 20_000;
/** Attempts without any progress before it fails; with the delays in between, at least ten minutes. */
const MAX_ATTEMPTS = 30;
/** A file of personal data isn't kept longer than it takes to download it. */
const RETENTION_MS = DAY;
const LINK_MS = 60 * MINUTE;

const HEADER = csvLine(["account_id", "name", "email", "created", "last_login", "marketing_optin", "tags", "subscriptions"]);

/** Requests a file of all members, which the queue creates. */
export async function createExport(ctx: Ctx): Promise<ExportRow> {
  const { id: accountId } = await callerAccount(ctx);
  const row: ExportRow = {
    ...newRow(ctx),
    accountId,
    fileName: `members-${new Date(ctx.now).toISOString().slice(0, 10)}.csv`,
    status: "pending",
    rows: 0,
    totalRows: await ctx.db.$count(accounts, eq(accounts.siteId, ctx.siteId)),
    pieces: [],
    bytes: 0,
    lastCreated: 0,
    lastId: "",
    lease: ctx.now,
    attempts: 0,
    completed: null,
  };
  await commit(ctx, ctx.db.insert(memberExports).values(row), exportEvent("exportRequested", row));
  return row;
}

/** The state of an export. */
export async function getExport(ctx: Ctx, id: string): Promise<ExportRow> {
  const row = await findExport(ctx, id);
  if (!row) throw notFound("Export not found");
  return row;
}

async function findExport(ctx: Ctx, id: string): Promise<ExportRow | undefined> {
  const [row] = await ctx.db
    .select()
    .from(memberExports)
    .where(ownRow(ctx, memberExports, id));
  return row;
}

/** A token that downloads a finished file, and its expiry: after an hour, or once the caller no longer administers the site. */
export async function createDownloadToken(ctx: Ctx, row: ExportRow): Promise<{ token: string; expires: number } | null> {
  if (row.status !== "complete") return null;
  const { id: accountId } = await callerAccount(ctx);
  const expires = Math.min(ctx.now + LINK_MS, row.created + RETENTION_MS);
  return { token: await signContent(ctx.env, PURPOSE, `${row.siteId}.${row.id}.${accountId}.${expires}`), expires };
}

/** Opens the file of a download link, chunk by chunk. */
export async function openExport(ctx: Ctx, token: string): Promise<{ row: ExportRow; text: AsyncGenerator<string, void> }> {
  const [siteId, id = "", accountId = "", expires] = (await readSigned(ctx.env, PURPOSE, token))?.split(".") ?? [];
  const invalidLink = notFound("The link is unknown or has expired");
  if (siteId === undefined || Number(expires) <= ctx.now) throw invalidLink;
  const own = ctxOf(ctx, siteId);
  const row = await findExport(own, id);
  if (row?.status !== "complete") throw invalidLink;
  const isAdmin = and(eq(accounts.siteId, siteId), eq(accounts.id, accountId), administersSite("read", effectiveRoles));
  if ((await own.db.$count(accounts, isAdmin)) === 0) throw invalidLink;
  return { row, text: readChunks(ctx.env, row.pieces) };
}

async function* readChunks(env: Env, pieces: string[]): AsyncGenerator<string, void> {
  for (const key of pieces) {
    const chunk = await env.MEDIA.get(key);
    if (!chunk) throw new Error("A chunk of an export is missing");
    yield await chunk.text();
  }
}

/** Enqueues the creation of the file; safe to repeat, since only one worker can hold its lease. */
export async function enqueueExport(env: Env, siteId: string, exportId: string): Promise<void> {
  await env.JOBS.send({ kind: "memberExport", siteId, exportId } satisfies MemberExportJob);
}

/**
 * Continues a file after its last chunk, until it is complete or handed over to the next message; `clock` returns epoch milliseconds. A
 * no-op if the export is finished or another worker holds its lease. After an error, it can be retried after a delay.
 */
export async function continueExport({ env, db }: Worker, { siteId, exportId }: MemberExportJob, clock: () => number): Promise<void> {
  await asSystem({ env, db, now: clock() }, siteId, async (ctx) => {
    const claimed = await claim(ctx, exportId);
    if (!claimed) return;
    if (claimed.attempts > MAX_ATTEMPTS) return finish(ctx, claimed, "failed");
    let row = claimed;
    try {
      for (let chunks = 0; chunks < CHUNKS_PER_RUN; chunks++) {
        const { next, last } = await addChunk(ctx, row, clock());
        if (!next) return;
        row = next;
        if (last) return await finish({ ...ctx, now: clock() }, row, "complete");
      }
      await setLease(ctx, row, clock());
      await enqueueExport(env, siteId, exportId);
    } catch (error) {
      // If the database itself failed, the lease expires by itself.
      await setLease(ctx, row, clock() + RETRY_DELAY_MS).catch(() => undefined);
      throw error;
    }
  });
}

async function setLease(ctx: Ctx, row: ExportRow, lease: number): Promise<void> {
  await ctx.db
    .update(memberExports)
    .set({ lease })
    .where(whereVersion(ctx, memberExports, row));
}

/** Claims an unfinished export whose lease has expired. */
async function claim(ctx: Ctx, id: string): Promise<ExportRow | undefined> {
  const [row] = await ctx.db
    .update(memberExports)
    .set({
      status: "running",
      lease: ctx.now + LEASE_MS,
      attempts: sql`${memberExports.attempts} + 1`,
      modified: ctx.now,
      version: sql`${memberExports.version} + 1`,
    })
    .where(and(ownRow(ctx, memberExports, id), unfinished, lte(memberExports.lease, ctx.now)))
    .returning();
  return row;
}

const unfinished = sql`${memberExports.status} in ('pending', 'running')`;

/** Stores the next chunk, then records it: a crash in between leaves only an unreferenced object. `next` is undefined if another worker was faster. */
async function addChunk(ctx: Ctx, row: ExportRow, now: number): Promise<{ next: ExportRow | undefined; last: boolean }> {
  const members = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(and(eq(accounts.siteId, ctx.siteId), sql`(${accounts.created}, ${accounts.id}) > (${row.lastCreated}, ${row.lastId})`))
    .orderBy(asc(accounts.created), asc(accounts.id))
    .limit(CHUNK_ROWS);
  const text = (row.pieces.length === 0 ? HEADER : "") + members.map(memberLine).join("");
  const bytes = new TextEncoder().encode(text);
  // The version makes the key unique, so that a late worker overwrites nothing.
  const key = `${prefixOf(row)}${row.pieces.length}-${row.version}`;
  await ctx.env.MEDIA.put(key, bytes, { httpMetadata: { contentType: "text/csv; charset=utf-8" } });
  const end = members.at(-1);
  const [next] = await ctx.db
    .update(memberExports)
    .set({
      rows: row.rows + members.length,
      pieces: [...row.pieces, key],
      bytes: row.bytes + bytes.byteLength,
      ...(end && { lastCreated: end.created, lastId: end.id }),
      lease: now + LEASE_MS,
      attempts: 0,
      modified: now,
      version: row.version + 1,
    })
    .where(whereVersion(ctx, memberExports, row))
    .returning();
  return { next, last: members.length < CHUNK_ROWS };
}

function memberLine(member: AccountRow): string {
  const { id, name, email, created, lastLogin, marketingOptin, tags, subscriptions } = member;
  return csvLine([
    id,
    name,
    email,
    iso(created),
    lastLogin === null ? "" : iso(lastLogin),
    marketingOptin,
    // As JSON, since a tag can contain any separator.
    JSON.stringify(tags),
    JSON.stringify(subscriptions),
  ]);
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}

async function finish(ctx: Ctx, row: ExportRow, status: "complete" | "failed"): Promise<void> {
  const next: ExportRow = { ...row, status, completed: ctx.now, modified: ctx.now, version: row.version + 1 };
  const change = updateRow(ctx, memberExports, row, next);
  await wonRace(() => commitIfUnchanged(ctx, change, exportEvent(status === "complete" ? "exportCompleted" : "exportFailed", next)));
}

/** Enqueues exports again whose worker died, or whose message was lost (after a minute). */
export async function resumeExports({ env, db, now }: Worker & { now: number }): Promise<void> {
  const stuck = await db
    .select({ id: memberExports.id, siteId: memberExports.siteId })
    .from(memberExports)
    .where(and(unfinished, lt(memberExports.lease, now), or(eq(memberExports.status, "running"), lt(memberExports.lease, now - MINUTE))))
    .limit(100);
  for (const { siteId, id } of stuck) await enqueueExport(env, siteId, id);
}

/** Deletes exports a day after they were requested: all their objects, then the row. */
export async function pruneExports({ env, db, now }: Worker & { now: number }): Promise<void> {
  const past = await db
    .select({ id: memberExports.id })
    .from(memberExports)
    .where(lt(memberExports.created, now - RETENTION_MS))
    .limit(20);
  for (const row of past) {
    const { objects, truncated } = await env.MEDIA.list({ prefix: prefixOf(row) });
    if (objects.length > 0) await env.MEDIA.delete(objects.map(({ key }) => key));
    // Any remaining objects, and the row, are deleted in the next run.
    if (!truncated) await db.delete(memberExports).where(eq(memberExports.id, row.id));
  }
}

function prefixOf({ id }: { id: string }): string {
  return `exports/${id}/`;
}

function exportEvent(change: "exportRequested" | "exportCompleted" | "exportFailed", row: ExportRow): NewEvent {
  return { type: `community.${change}`, resource: `export/${row.id}`, data: toExportEvent(row) };
}
