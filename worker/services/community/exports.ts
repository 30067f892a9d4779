import { and, asc, eq, lt, lte, or, sql } from "drizzle-orm";
import { type AccountRow, accounts, type ExportRow, memberExports } from "#db/schema/index.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { wonRace, notFound } from "#worker/lib/errors.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import type { Job } from "#worker/queues/messages.ts";
import { toExportEvent } from "./schemas.ts";
import { accountColumns } from "#worker/services/accounts/columns.ts";
import {
  whereVersion,
  callerAccount,
  commit,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  ownRow,
} from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";

type Worker = Pick<Ctx, "env" | "db">;

const PURPOSE = "member export";
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Members in one piece, which is all that is ever held in memory. */
const PIECE_ROWS = 2_000;
/** Pieces that one message makes before it passes the work on. */
const PIECES_PER_RUN = 50;
/** How long nobody else begins, after whoever works on it was last heard of: with a piece, or in its last words. */
const LEASE_MS = 30_000;
const PAUSE_MS = 20_000;
/** How often it is begun anew without a piece coming of it: with the pauses in between, for ten minutes at least. */
const MOST_ATTEMPTS = 30;
/** A file full of addresses is not kept for longer than it takes to fetch it. */
const KEPT_MS = DAY;
const LINK_MS = 60 * MINUTE;

const HEADER = csvLine(["account_id", "name", "email", "created", "last_login", "marketing_optin", "tags", "subscriptions"]);

/** Asks for a file of all members; the queue makes it. */
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

/** How far a file is. */
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

/** What fetches a finished file, for an hour and whoever has it; and until when. */
export async function linkExport(ctx: Ctx, row: ExportRow): Promise<{ token: string; expires: number } | null> {
  if (row.status !== "complete") return null;
  const expires = Math.min(ctx.now + LINK_MS, row.created + KEPT_MS);
  return { token: await signContent(ctx.env, PURPOSE, `${row.siteId}.${row.id}.${expires}`), expires };
}

/** The file that a link names, piece by piece. */
export async function openExport(ctx: Ctx, token: string): Promise<{ row: ExportRow; text: AsyncGenerator<string, void> }> {
  const [siteId, id = "", expires] = (await readSigned(ctx.env, PURPOSE, token))?.split(".") ?? [];
  const gone = notFound("The link is unknown, or has expired");
  if (siteId === undefined || Number(expires) <= ctx.now) throw gone;
  const row = await findExport({ ...ctx, siteId }, id);
  if (row?.status !== "complete") throw gone;
  return { row, text: readPieces(ctx.env, row.pieces) };
}

async function* readPieces(env: Env, pieces: string[]): AsyncGenerator<string, void> {
  for (const key of pieces) {
    const piece = await env.MEDIA.get(key);
    if (!piece) throw new Error("A piece of an export is missing");
    yield await piece.text();
  }
}

/** Has the queue make the file; safe to repeat, since only one works on it at a time. */
export async function enqueueExport(env: Env, siteId: string, exportId: string): Promise<void> {
  await env.JOBS.send({ kind: "memberExport", siteId, exportId } satisfies Job);
}

/**
 * Goes on with a file where the last piece ended, until it is complete or another message's turn; `clock` gives milliseconds since
 * 1970 UTC. Comes to nothing when it is done already, or somebody else works on it. What it throws may be tried again after a pause.
 */
export async function continueExport({ env, db }: Worker, { siteId, exportId }: Job, clock: () => number): Promise<void> {
  await asSystem({ env, db, now: clock() }, siteId, async (ctx) => {
    const claimed = await claim(ctx, exportId);
    if (!claimed) return;
    if (claimed.attempts > MOST_ATTEMPTS) return finish(ctx, claimed, "failed");
    let row = claimed;
    try {
      for (let pieces = 0; pieces < PIECES_PER_RUN; pieces++) {
        const { next, last } = await addPiece(ctx, row, clock());
        if (!next) return;
        row = next;
        if (last) return await finish({ ...ctx, now: clock() }, row, "complete");
      }
      await setLease(ctx, row, clock());
      await enqueueExport(env, siteId, exportId);
    } catch (error) {
      // What failed may be the database itself; then the lease ends by itself.
      await setLease(ctx, row, clock() + PAUSE_MS).catch(() => undefined);
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

/** Takes an unfinished export that nobody works on. */
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

/** Writes the next piece, then notes it: a crash in between leaves an object that nothing names. `next` is undefined where somebody else was faster. */
async function addPiece(ctx: Ctx, row: ExportRow, now: number): Promise<{ next: ExportRow | undefined; last: boolean }> {
  const members = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(and(eq(accounts.siteId, ctx.siteId), sql`(${accounts.created}, ${accounts.id}) > (${row.lastCreated}, ${row.lastId})`))
    .orderBy(asc(accounts.created), asc(accounts.id))
    .limit(PIECE_ROWS);
  const text = (row.pieces.length === 0 ? HEADER : "") + members.map(memberLine).join("");
  const bytes = new TextEncoder().encode(text);
  // The version makes the key one's own: whoever comes late overwrites nothing.
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
  return { next, last: members.length < PIECE_ROWS };
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
    // As JSON: a tag may hold whatever could stand between two of them.
    JSON.stringify(tags),
    JSON.stringify(subscriptions),
  ]);
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}

async function finish(ctx: Ctx, row: ExportRow, status: "complete" | "failed"): Promise<void> {
  const next: ExportRow = { ...row, status, completed: ctx.now, modified: ctx.now, version: row.version + 1 };
  const change = ctx.db
    .update(memberExports)
    .set(next)
    .where(whereVersion(ctx, memberExports, row));
  await wonRace(() => commitIfUnchanged(ctx, change, exportEvent(status === "complete" ? "exportCompleted" : "exportFailed", next)));
}

/** Sends exports on their way again whose worker has died, and, a minute after they were asked for, those whose message was lost. */
export async function resumeExports({ env, db, now }: Worker & { now: number }): Promise<void> {
  const stuck = await db
    .select({ id: memberExports.id, siteId: memberExports.siteId })
    .from(memberExports)
    .where(and(unfinished, lt(memberExports.lease, now), or(eq(memberExports.status, "running"), lt(memberExports.lease, now - MINUTE))))
    .limit(100);
  for (const { siteId, id } of stuck) await enqueueExport(env, siteId, id);
}

/** Deletes files a day after they were asked for, with all that their making left; then what is known of them. */
export async function pruneExports({ env, db, now }: Worker & { now: number }): Promise<void> {
  const past = await db
    .select({ id: memberExports.id })
    .from(memberExports)
    .where(lt(memberExports.created, now - KEPT_MS))
    .limit(20);
  for (const row of past) {
    const { objects, truncated } = await env.MEDIA.list({ prefix: prefixOf(row) });
    if (objects.length > 0) await env.MEDIA.delete(objects.map(({ key }) => key));
    // What is left waits for the next minute, and so does the row.
    if (!truncated) await db.delete(memberExports).where(eq(memberExports.id, row.id));
  }
}

function prefixOf({ id }: { id: string }): string {
  return `exports/${id}/`;
}

function exportEvent(change: "exportRequested" | "exportCompleted" | "exportFailed", row: ExportRow): NewEvent {
  return { type: `community.${change}`, resource: `export/${row.id}`, data: toExportEvent(row) };
}
