import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { sandboxMails } from "#db/schema/sandboxes.ts";
import { newId } from "#worker/lib/ids.ts";

/** How many emails of a sandbox are kept. */
export const KEPT_MAILS = 50;

/** Stores an email that a sandbox would have sent. */
export async function captureMail(
  { db, now }: { db: Db; now: number },
  siteId: string,
  mail: { to: string; subject: string; text: string },
): Promise<void> {
  const oldest = db
    .select({ id: sandboxMails.id })
    .from(sandboxMails)
    .where(eq(sandboxMails.siteId, siteId))
    .orderBy(desc(sandboxMails.id))
    .limit(1)
    .offset(KEPT_MAILS - 1);
  await db.batch([
    db.insert(sandboxMails).values({ id: newId(now), siteId, recipient: mail.to, subject: mail.subject, text: mail.text, created: now }),
    db.delete(sandboxMails).where(and(eq(sandboxMails.siteId, siteId), lt(sandboxMails.id, sql`(${oldest})`))),
  ]);
}
