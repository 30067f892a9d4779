import { escapeHtml } from "#worker/lib/handlebars/template.ts";
import type { MailedToken } from "./mail-links.ts";
import { parseTemplate } from "#worker/lib/handlebars/parse.ts";
import { renderTemplate } from "#worker/lib/handlebars/render.ts";
import { TemplateError } from "#worker/lib/handlebars/scan.ts";

/** The sender name in email from the deployment itself. */
export const PRODUCT = "Tifo";

/** An email to send. Links are absolute URLs that the caller has already validated. */
export type Mail =
  | { template: "reset"; to: string; data: { name: string } & MailedToken }
  | { template: "newPassword"; to: string; data: { name: string } & MailedToken }
  | { template: "verifyEmail"; to: string; data: { name: string } & MailedToken }
  | { template: "globalAccount"; to: string; data: { siteName: string } & MailedToken }
  | { template: "registerInvite"; to: string; data: { senderName: string; link: string } }
  | { template: "receipt"; to: string; data: Receipt };

/** The content of a receipt, with formatted amounts and date; also the variables of a site's own template, with `siteName`. */
export interface Receipt {
  receiptNumber: string;
  date: string;
  customer: { name: string; email: string };
  items: { description: string; amount: string }[];
  total: string;
}

export interface ReceiptTemplate {
  subject: string;
  template: string;
}

/** The site whose email it is. */
export interface MailStyle {
  siteName: string;
  /** The site's own receipt template; the default if undefined. */
  receipt?: ReceiptTemplate;
}

export interface Rendered {
  subject: string;
  text: string;
  html: string;
}

export const DEFAULT_RECEIPT: ReceiptTemplate = {
  subject: "Your receipt {{receiptNumber}} from {{siteName}}",
  template: `<!doctype html>
<html lang="en">
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1c1917">
<h1 style="font-size:20px">Thank you, {{customer.name}}</h1>
<p>Receipt {{receiptNumber}} of {{date}}</p>
<table style="border-collapse:collapse">
{{#each items}}
<tr><td style="padding:4px 24px 4px 0">{{description}}</td><td style="padding:4px 0;text-align:right">{{amount}}</td></tr>
{{/each}}
<tr><td style="padding:8px 24px 4px 0"><b>Total</b></td><td style="padding:8px 0 4px;text-align:right"><b>{{total}}</b></td></tr>
</table>
<p style="color:#57534e">{{siteName}}</p>
</body>
</html>
`,
};

/** A sample receipt to check templates with. */
export const SAMPLE_RECEIPT: Receipt = {
  receiptNumber: "R-2026-000117",
  date: "21 November 2026",
  customer: { name: "Vera Viewer", email: "viewer@demo.example" },
  items: [
    { description: "Season pass", amount: "£39.00" },
    { description: "Match-day scarf", amount: "£14.50" },
  ],
  total: "£53.50",
};

/** Renders the subject, text and html of an email. */
export function renderMail(mail: Mail, { siteName, receipt = DEFAULT_RECEIPT }: MailStyle): Rendered {
  switch (mail.template) {
    case "reset":
      return renderLetter(
        `Reset your password for ${siteName}`,
        [
          `Hello ${mail.data.name},`,
          `someone, hopefully you, requested a new password for ${siteName}. The link works once and expires in one hour.`,
        ],
        { label: "Choose a new password", ...mail.data },
        "If it wasn't you, ignore this email: your password stays the same.",
      );
    case "newPassword":
      return renderLetter(
        `Choose a new password for ${siteName}`,
        [
          `Hello ${mail.data.name},`,
          `you now have a role at ${siteName}. The email address of your account had not been verified, so its old password no longer works. Choose a new one; the link works once and expires in 7 days.`,
        ],
        { label: "Choose a new password", ...mail.data },
        "If you weren't expecting this email, ignore it: nobody can sign in to the account without this link.",
      );
    case "verifyEmail":
      return renderLetter(
        `Verify your email address for ${siteName}`,
        [
          `Hello ${mail.data.name},`,
          `someone, hopefully you, created an account at ${siteName} with this email address. To verify the address, open the link and enter the account's password. The link works once and expires in 24 hours.`,
        ],
        { label: "Verify the address", ...mail.data },
        "If you didn't create the account, ignore this email, or reset its password to take the account over.",
      );
    case "globalAccount":
      return renderLetter(
        `Create or link your ${PRODUCT} account`,
        [
          `Someone who is signed in to ${mail.data.siteName} with this email address requested one ${PRODUCT} account for all the sites that you administer. If it was you, continue and enter the password of that account, or choose one if you don't have it yet. The link works once and expires in one hour.`,
        ],
        { label: "Continue", ...mail.data },
        "If it wasn't you, ignore this email: nothing is created or linked without the link.",
      );
    case "registerInvite":
      return renderLetter(
        `Join the team of ${siteName}`,
        [`${mail.data.senderName} invites you to work on ${siteName} with your own account.`],
        { label: "Accept the invitation", link: mail.data.link },
        "If you weren't expecting this email, ignore it.",
      );
    case "receipt":
      return renderReceipt(mail.data, siteName, receipt);
  }
}

/** Falls back to the default if the site's own template exceeds a limit with this receipt, so that no receipt is lost. */
function renderReceipt(data: Receipt, siteName: string, own: ReceiptTemplate): Rendered {
  const text = [
    `Receipt ${data.receiptNumber} of ${data.date}`,
    ...data.items.map((item) => `${item.description}: ${item.amount}`),
    `Total: ${data.total}`,
    siteName,
  ].join("\n");
  try {
    return { ...renderReceiptTemplate(own, data, siteName), text };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ...renderReceiptTemplate(DEFAULT_RECEIPT, data, siteName), text };
  }
}

/** Renders the subject and html of a receipt; throws a TemplateError with line and column, or the exceeded limit. */
export function renderReceiptTemplate(
  { subject, template }: ReceiptTemplate,
  data: Receipt,
  siteName: string,
): { subject: string; html: string } {
  const variables = { ...data, siteName };
  const line = renderTemplate(parseTemplate(subject), variables, { escape: false });
  return { subject: singleLine(line), html: renderTemplate(parseTemplate(template), variables) };
}

/** A plain mail: paragraphs, a button or a code to paste, and a closing line. */
function renderLetter(
  subject: string,
  paragraphs: string[],
  { label, link, code }: { label: string } & MailedToken,
  end?: string,
): Rendered {
  const closing = end === undefined ? [] : [end];
  const button =
    link === undefined
      ? []
      : [
          `<p><a href="${escapeHtml(link)}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#4338ca;color:#fff;text-decoration:none">${escapeHtml(label)}</a></p>`,
        ];
  const hint = link === undefined ? "Enter this code when you are asked for it:" : "If the page asks for a code, enter this one:";
  const html = [
    '<!doctype html><html lang="en"><body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1c1917">',
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
    ...button,
    ...(code === undefined ? [] : [`<p>${escapeHtml(hint)}<br><code style="word-break:break-all">${escapeHtml(code)}</code></p>`]),
    ...closing.map((paragraph) => `<p style="color:#57534e">${escapeHtml(paragraph)}</p>`),
    "</body></html>",
  ].join("\n");
  const text = [
    ...paragraphs,
    ...(link === undefined ? [] : [`${label}: ${link}`]),
    ...(code === undefined ? [] : [`${hint} ${code}`]),
    ...closing,
  ].join("\n\n");
  return { subject: singleLine(subject), text, html };
}

/** Keeps a subject on one line, whatever names and templates contain. */
function singleLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
