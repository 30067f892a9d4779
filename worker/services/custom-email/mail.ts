import { eq, lt } from "drizzle-orm";
import { createDb, type Db } from "#db/client.ts";
import { mailSenders, receiptTemplates, sentMails, sites } from "#db/schema/index.ts";
import { deliver, type Delivery } from "#worker/integrations/email.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { timeOf } from "#worker/lib/ids.ts";
import { type Mail, type MailStyle, PRODUCT, renderMail } from "./templates.ts";

// A mail that could not be sent for this long after its event is of no use any more.
const GIVE_UP_MS = 24 * 60 * 60 * 1000;
// Days for which it is known that a mail went out: longer than any effect is tried.
const KEPT_DAYS = 30;

interface Sender {
  fromEmail: string;
  fromName: string;
  replyToEmail: string;
}

/**
 * Sends a mail that follows from an event, once however often the effect is repeated: only a crash between the mail service's
 * answer and the note of it can send it twice. `siteId` is "" for mail of the deployment, as to global accounts.
 * Throws when the effect should be tried again; resolves also when the service refuses the mail for good, or has failed for a day.
 */
export async function sendMail(env: Env, siteId: string, mail: Mail, eventId: string): Promise<void> {
  const db = createDb(env.DB);
  const id = await sha256([eventId, mail.template, mail.to].join("\n"));
  const [known] = await db.select({ id: sentMails.id }).from(sentMails).where(eq(sentMails.id, id));
  if (known) return;
  const { sender, ...style } = await styleOf(db, siteId);
  const outcome = await post(env, mail, style, sender).catch((error: unknown) => {
    if (Date.now() - timeOf(eventId) < GIVE_UP_MS) throw error;
    return "given_up" as const;
  });
  if (outcome !== "sent") console.error(JSON.stringify({ level: "error", event: "mail_refused", siteId, eventId, outcome }));
  const noted = { id, siteId, eventId, template: mail.template, outcome, created: Date.now() };
  await db.insert(sentMails).values(noted).onConflictDoNothing();
}

/** A sender whose domain the operator has not onboarded is refused by the mail service: then the default sends for it. */
async function post(env: Env, mail: Mail, style: MailStyle, sender: Sender | undefined): Promise<Delivery> {
  const message = { to: mail.to, ...renderMail(mail, style), ...(sender && { replyTo: sender.replyToEmail }) };
  const standard = { name: PRODUCT, email: env.TIFO_MAIL_FROM };
  if (!sender) return deliver(env, { ...message, from: standard });
  const outcome = await deliver(env, { ...message, from: { name: sender.fromName, email: sender.fromEmail } });
  return outcome === "E_SENDER_NOT_VERIFIED" ? deliver(env, { ...message, from: standard }) : outcome;
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

/** Forgets which mails have gone out long ago. */
export async function pruneMails({ db, now }: { db: Db; now: number }): Promise<void> {
  await db.delete(sentMails).where(lt(sentMails.created, now - KEPT_DAYS * 86_400_000));
}

/** A person's name as our letters say it: not one that is a link, by which strangers would write to whom they like. */
export function mailableName(name: string, otherwise: string): string {
  return name === "" || /:\/\/|\p{Cc}|[^\s.]\.\p{L}{2}/u.test(name) ? otherwise : name;
}
