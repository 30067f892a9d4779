import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { siteId, tracked } from "./columns.ts";

/** The sender of a site's email. A row exists only once its domain is verified. */
export const mailSenders = sqliteTable("mail_senders", {
  siteId: siteId().primaryKey(),
  domain: text("domain").notNull(),
  fromEmail: text("from_email").notNull(),
  fromName: text("from_name").notNull(),
  replyToEmail: text("reply_to_email").notNull(),
  ...tracked(),
});

/** A site's own receipt as a Handlebars template; without a row, the default is sent. */
export const receiptTemplates = sqliteTable("receipt_templates", {
  siteId: siteId().primaryKey(),
  subject: text("subject").notNull(),
  template: text("template").notNull(),
  ...tracked(),
});

/** Emails that were sent, so that a repeated effect sends none twice. Kept for 30 days, without addresses. */
export const sentMails = sqliteTable(
  "sent_mails",
  {
    /** SHA-256 of event, template and recipient. */
    id: text("id").primaryKey(),
    /** Empty for email of the deployment itself. */
    siteId: siteId(),
    eventId: text("event_id").notNull(),
    template: text("template").notNull(),
    /** "sent", "given_up", or the code with which the mail service rejected it permanently. */
    outcome: text("outcome").notNull(),
    created: integer("created").notNull(),
  },
  (table) => [index("sent_mails_created").on(table.created)],
);

export type SenderRow = typeof mailSenders.$inferSelect;

export type ReceiptRow = typeof receiptTemplates.$inferSelect;
