import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { mailSenders, receiptTemplates, sentMails } from "#db/schema/custom-email.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { emailError, openMailbox } from "#test/mailbox.ts";
import { newId } from "#worker/lib/ids.ts";
import { pruneMails, sendMail } from "./mail.ts";
import { type Mail, SAMPLE_RECEIPT } from "./templates.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const TO = "viewer@demo.example";
const DEFAULT_FROM = { name: "Tifo", email: "no-reply@tifo.example" };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newEvent = (): string => newId(Date.now());
const invitation = {
  template: "registerInvite",
  to: TO,
  data: { senderName: "Ada Admin", link: "https://demo.example/i/aB3dE6?a=1&b=2" },
} as const satisfies Mail;
const receipt: Mail = { template: "receipt", to: TO, data: SAMPLE_RECEIPT };

async function withSender(): Promise<TestSite> {
  const other = await newSite();
  const sender = { domain: "club.example", fromEmail: "tickets@club.example", fromName: "Old Dock", replyToEmail: "help@dock.example" };
  await db.insert(mailSenders).values({ ...sender, siteId: other.id, created: 1, modified: 1 });
  return other;
}

async function withReceipt(subject: string, template: string): Promise<TestSite> {
  const other = await newSite();
  await db.insert(receiptTemplates).values({ siteId: other.id, subject, template, created: 1, modified: 1 });
  return other;
}

describe("an email", () => {
  test("is sent once, even if its effect is repeated", async () => {
    const mails = openMailbox();
    const event = newEvent();
    await sendMail(env, site.id, invitation, event);
    await sendMail(env, site.id, invitation, event);
    expect(mails).toHaveLength(1);
    await sendMail(env, site.id, { ...invitation, to: "other@demo.example" }, event);
    await sendMail(env, site.id, invitation, newEvent());
    expect(mails).toHaveLength(3);
  });

  test("is retried after the service failed", async () => {
    const event = newEvent();
    let fails = true;
    const mails = openMailbox(() => (fails ? Promise.reject(emailError("E_INTERNAL_SERVER_ERROR")) : Promise.resolve({ messageId: "1" })));
    await expect(sendMail(env, site.id, invitation, event)).rejects.toThrow("The mail service failed");
    fails = false;
    await sendMail(env, site.id, invitation, event);
    await sendMail(env, site.id, invitation, event);
    expect(mails).toHaveLength(2);
  });

  test("doesn't reveal its recipient in the error when the service fails", async () => {
    openMailbox(() => Promise.reject(new Error(`email to ${TO} not allowed`)));
    const failed = await sendMail(env, site.id, invitation, newEvent()).catch(String);
    expect(failed).toBe("Error: The mail service failed");
  });

  test("is abandoned after the service has failed for a day", async () => {
    openMailbox(() => Promise.reject(emailError("E_DAILY_LIMIT_EXCEEDED")));
    const hour = 3_600_000;
    await expect(sendMail(env, site.id, invitation, newId(Date.now() - 23 * hour))).rejects.toThrow("The mail service failed");
    const event = newId(Date.now() - 24 * hour);
    await sendMail(env, site.id, invitation, event);
    expect(await db.select().from(sentMails).where(eq(sentMails.eventId, event))).toMatchObject([{ outcome: "given_up" }]);
  });

  test("that the service rejects permanently isn't retried, and its record has the reason but not the recipient", async () => {
    const event = newEvent();
    const mails = openMailbox(() => Promise.reject(emailError("E_RECIPIENT_SUPPRESSED")));
    await sendMail(env, site.id, invitation, event);
    await sendMail(env, site.id, invitation, event);
    expect(mails).toHaveLength(1);
    const rows = await db.select().from(sentMails).where(eq(sentMails.eventId, event));
    expect(rows).toMatchObject([{ siteId: site.id, template: "registerInvite", outcome: "E_RECIPIENT_SUPPRESSED" }]);
    expect(JSON.stringify(rows)).not.toContain(TO);
  });

  test("has its record pruned after 30 days", async () => {
    openMailbox();
    const event = newEvent();
    await sendMail(env, site.id, invitation, event);
    const [row] = await db.select().from(sentMails).where(eq(sentMails.eventId, event));
    const end = (row?.created ?? 0) + 30 * 86_400_000;
    await pruneMails({ db, now: end });
    expect(await db.select().from(sentMails).where(eq(sentMails.eventId, event))).toHaveLength(1);
    await pruneMails({ db, now: end + 1 });
    expect(await db.select().from(sentMails).where(eq(sentMails.eventId, event))).toEqual([]);
  });
});

describe("the sender of an email", () => {
  test("is the default if the site has set none", async () => {
    const mails = openMailbox();
    await sendMail(env, site.id, invitation, newEvent());
    expect(mails[0]).toMatchObject({ from: DEFAULT_FROM, to: TO });
    expect(mails[0]).not.toHaveProperty("replyTo");
  });

  test("is the site's own, with its reply-to address", async () => {
    const mails = openMailbox();
    await sendMail(env, (await withSender()).id, invitation, newEvent());
    expect(mails).toMatchObject([{ from: { name: "Old Dock", email: "tickets@club.example" }, replyTo: "help@dock.example" }]);
  });

  test("is the default if the operator has not onboarded the site's domain", async () => {
    const mails = openMailbox(() =>
      mails.length === 1 ? Promise.reject(emailError("E_SENDER_NOT_VERIFIED")) : Promise.resolve({ messageId: "2" }),
    );
    const event = newEvent();
    await sendMail(env, (await withSender()).id, invitation, event);
    expect(mails[1]).toMatchObject({ from: DEFAULT_FROM, replyTo: "help@dock.example" });
    const rows = await db.select().from(sentMails).where(eq(sentMails.eventId, event));
    expect(rows).toMatchObject([{ outcome: "sent" }]);
  });

  test("is the default for email from the deployment", async () => {
    const mails = openMailbox();
    await sendMail(env, "", { template: "reset", to: TO, data: { name: "Gil", link: "https://demo.example/reset" } }, newEvent());
    expect(mails).toMatchObject([{ from: DEFAULT_FROM, subject: "Reset your password for Tifo" }]);
  });
});

describe("the text of an email", () => {
  const hostile = '<img src=x onerror="a">';

  test.for<Mail>([
    { template: "reset", to: TO, data: { name: hostile, link: invitation.data.link } },
    { template: "registerInvite", to: TO, data: { senderName: hostile, link: invitation.data.link } },
  ])("has its link in text and html, and escapes names ($template)", async (mail) => {
    const mails = openMailbox();
    await sendMail(env, site.id, mail, newEvent());
    const [{ text = "", html = "" } = {}] = mails;
    expect(text).toContain(invitation.data.link);
    expect(html).toContain('href="https://demo.example/i/aB3dE6?a&#61;1&amp;b&#61;2"');
    expect(html).not.toContain("<img");
    expect(`${text}${html}`).toContain("Harbour City FC");
  });

  test("keeps a subject on one line", async () => {
    const own = await withReceipt("Receipt\r\nBcc: {{customer.name}}", "x");
    const mails = openMailbox();
    const data = { ...SAMPLE_RECEIPT, customer: { name: "Vera\r\nBcc: all@club.example", email: TO } };
    await sendMail(env, own.id, { ...receipt, data }, newEvent());
    expect(mails[0]?.subject).toBe("Receipt Bcc: Vera Bcc: all@club.example");
  });
});

describe("a receipt", () => {
  test("is the default if the site has no template", async () => {
    const mails = openMailbox();
    await sendMail(env, site.id, receipt, newEvent());
    expect(mails[0]?.subject).toBe("Your receipt R-2026-000117 from Harbour City FC");
    for (const part of ["Vera Viewer", "Season pass", "£14.50", "£53.50"]) expect(mails[0]?.html).toContain(part);
    for (const part of ["Season pass: £39.00", "Total: £53.50"]) expect(mails[0]?.text).toContain(part);
  });

  test("is the site's own template, escaped in the html and plain in the subject", async () => {
    const own = await withReceipt("{{customer.name}} paid", "<p>{{{customer.name}}}</p>{{#each items}}{{@index}}{{/each}}");
    const mails = openMailbox();
    const data = { ...SAMPLE_RECEIPT, customer: { name: "Tom & <b>", email: TO } };
    await sendMail(env, own.id, { ...receipt, data }, newEvent());
    expect(mails[0]).toMatchObject({ subject: "Tom & <b> paid", html: "<p>Tom &amp; &lt;b&gt;</p>01" });
  });

  test("is the default if the site's own template exceeds a limit", async () => {
    const own = await withReceipt("Receipt", `${"{{#each @root.items}}".repeat(16)}x${"{{/each}}".repeat(16)}`);
    const mails = openMailbox();
    await sendMail(env, own.id, receipt, newEvent());
    expect(mails[0]?.html).toContain("Thank you, Vera Viewer");
  });
});
