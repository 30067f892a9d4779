import { eq, lte, sql } from "drizzle-orm";
import { graphics } from "#db/schema/graphics.ts";
import { insightCursors } from "#db/schema/insights.ts";
import { media } from "#db/schema/media.ts";
import { type SandboxRow, sandboxes } from "#db/schema/sandboxes.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import { batchAll, type Ctx } from "#worker/services/core/context.ts";
import { deleteFiles } from "#worker/services/graphics/graphics.ts";
import { ARCHIVED } from "#worker/services/site-archives/tables.ts";
import { releaseSite } from "#worker/services/sites/placement.ts";
import { destroyObject, objectsOfSite } from "./objects.ts";
import { closeSandbox } from "./sandboxes.ts";
import { UNARCHIVED } from "./tables.ts";

type Upkeep = Pick<Ctx, "env" | "db" | "now">;

/** How many sandboxes one run of the cron takes a step of. */
const AT_ONCE = 20;
/** How many objects one run destroys for a sandbox, and how many at the same time. */
const OBJECTS_PER_RUN = 100;
const IN_PARALLEL = 20;
const RETRY_MS = 300_000;

/**
 * Deletes expired sandboxes in three steps, each safe to repeat: access ends; a minute later, the objects to destroy are noted; then these
 * are destroyed, and at last everything that the database and the bucket have of the site.
 */
export async function eraseSandboxes({ env, db, now }: Upkeep): Promise<void> {
  const due = await db.select().from(sandboxes).where(lte(sandboxes.due, now)).orderBy(sandboxes.due).limit(AT_ONCE);
  const failures: unknown[] = [];
  for (const sandbox of due) {
    await takeStep({ env, db, now }, sandbox).catch(async (error: unknown) => {
      failures.push(error);
      // So that it doesn't keep others waiting.
      await update(db, sandbox.siteId, { due: now + RETRY_MS });
    });
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} sandboxes couldn't be deleted`);
}

async function takeStep({ env, db, now }: Upkeep, sandbox: SandboxRow): Promise<void> {
  const { siteId } = sandbox;
  if (sandbox.state === "active") return closeSandbox({ db, now }, siteId);
  const objects = sandbox.state === "closed" ? await objectsOfSite(env, siteId) : sandbox.objects;
  if (sandbox.state === "closed") await update(db, siteId, { state: "erasing", objects });
  const [next, rest] = [objects.slice(0, OBJECTS_PER_RUN), objects.slice(OBJECTS_PER_RUN)];
  for (const group of inGroups(next, IN_PARALLEL)) await Promise.all(group.map((object) => destroyObject(env, object)));
  if (rest.length > 0) return update(db, siteId, { objects: rest });
  await deleteSiteFiles({ env, db }, siteId);
  await deleteRows({ db }, siteId);
  await releaseSite(env, siteId);
}

async function update(db: Ctx["db"], siteId: string, next: Partial<SandboxRow>): Promise<void> {
  await db.update(sandboxes).set(next).where(eq(sandboxes.siteId, siteId));
}

async function deleteSiteFiles({ env, db }: Pick<Ctx, "env" | "db">, siteId: string): Promise<void> {
  const files = await db.select({ id: media.id }).from(media).where(eq(media.siteId, siteId));
  for (const group of inGroups(files, 1000)) await env.MEDIA.delete(group.map(({ id }) => id));
  const uploaded = await db.select({ id: graphics.id }).from(graphics).where(eq(graphics.siteId, siteId));
  for (const { id } of uploaded) await deleteFiles(env, id);
}

/** The sandbox's own row goes last: without it, nothing would continue here. */
async function deleteRows({ db }: Pick<Ctx, "db">, siteId: string): Promise<void> {
  const tables = [...ARCHIVED.toReversed(), ...UNARCHIVED];
  await batchAll(db, [
    db.delete(insightCursors).where(sql`instr(${insightCursors.source}, ${siteId}) > 0`),
    ...tables.map(({ table, site }) => db.delete(table).where(eq(site, siteId))),
  ]);
}
