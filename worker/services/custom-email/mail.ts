import { eq, lt } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { mailSenders, receiptTemplates, sentMails } from "#db/schema/custom-email.ts";
import { sites } from "#db/schema/sites.ts";
import { deliver, type Delivery } from "#worker/integrations/email.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { timeOf } from "#worker/lib/ids.ts";
import { logError } from "#worker/lib/log.ts";
import { captureMail } from "#worker/services/sandboxes/captured-mail.ts";
import { isSandbox } from "#worker/services/sandboxes/is-sandbox.ts";
import { type Mail, type MailStyle, PRODUCT, renderMail } from "./templates.ts";

// An email that could not be sent for this long is obsolete.
const GIVE_UP_MS = 24 * 60 * 60 * 1000;
// How long sent mails are recorded: longer than any effect is retried.
const RETENTION_DAYS = 30;

interface Sender {
  fromEmail: string;
  fromName: string;
  replyToEmail: string;
}

/**
 * Sends an event's mail once, even if the effect is repeated: only a crash between the mail service's response and the record of it can
 * send it twice. `siteId` is "" for email from the deployment, such as to global accounts. Throws if the effect should be retried; resolves
 * if the service rejects the email permanently, or has failed for a day.
 */
export async function sendMail(env: Env, siteId: string, mail: Mail, eventId: string): Promise<void> {
  const db = siteDb(env, siteId);
  const id = await sha256([eventId, mail.template, mail.to].join("\n"));
  const [existing] = await db.select({ id: sentMails.id }).from(sentMails).where(eq(sentMails.id, id));
  if (existing) return;
  const { sender, ...style } = await styleOf(db, siteId);
  const outcome = await ((await isSandbox(env, siteId)) ? capture(env, siteId, mail, style) : post(env, mail, style, sender)).catch(
    (error: unknown) => {
      if (Date.now() - timeOf(eventId) < GIVE_UP_MS) throw error;
      return "given_up" as const;
    },
  );
  if (outcome !== "sent") logError("mail_refused", outcome, { siteId, eventId });
  const record = { id, siteId, eventId, template: mail.template, outcome, created: Date.now() };
  await db.insert(sentMails).values(record).onConflictDoNothing();
}

/** A sandbox, which anybody may create, sends no email: it is shown to whoever created it. */
async function capture(env: Env, siteId: string, mail: Mail, style: MailStyle): Promise<Delivery> {
  const { subject, text } = renderMail(mail, style);
  await captureMail({ db: siteDb(env, siteId), now: Date.now() }, siteId, { to: mail.to, subject, text });
  return "sent";
}

/** Falls back to the default sender if the operator has not onboarded the domain of the site's own. */
async function post(env: Env, mail: Mail, style: MailStyle, sender: Sender | undefined): Promise<Delivery> {
  const message = { to: mail.to, ...renderMail(mail, style), ...(sender && { replyTo: sender.replyToEmail }) };
  const defaultSender = { name: PRODUCT, email: env.TIFO_MAIL_FROM };
  if (!sender) return deliver(env, { ...message, from: defaultSender });
  const outcome = await deliver(env, { ...message, from: { name: sender.fromName, email: sender.fromEmail } });
  return outcome === "E_SENDER_NOT_VERIFIED" ? deliver(env, { ...message, from: defaultSender }) : outcome;
}

async function styleOf(db: Db, siteId: string): Promise<MailStyle & { sender?: Sender }> {
  const [row] = await db
    .select({ name: sites.name, sender: mailSenders, receipt: receiptTemplates })
    .from(sites)
    .leftJoin(mailSenders, eq(mailSenders.siteId, sites.id))
    .leftJoin(receiptTemplates, eq(receiptTemplates.siteId, sites.id))
    .where(eq(sites.id, siteId));
  return { siteName: row?.name ?? PRODUCT, sender: row?.sender ?? undefined, receipt: row?.receipt ?? undefined };
}

/** Deletes old records of sent mails. */
export async function pruneMails({ db, now }: { db: Db; now: number }): Promise<void> {
  await db.delete(sentMails).where(lt(sentMails.created, now - RETENTION_DAYS * 86_400_000));
}

/** A name that is safe to use in an email; names that contain a link are replaced, so that strangers can't send spam through us. */
export function mailableName(name: string, fallback: string): string {
  return name === "" || /:\/\/|\p{Cc}|[^\s.]\.\p{L}{2}/u.test(name) ? fallback : name;
}
