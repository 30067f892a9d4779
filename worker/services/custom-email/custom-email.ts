import { and, eq } from "drizzle-orm";
import { mailSenders, type ReceiptRow, receiptTemplates, type SenderRow } from "#db/schema/custom-email.ts";
import { txtRecords } from "#worker/integrations/dns.ts";
import { hmacKey, secretsOf } from "#worker/lib/crypto/crypto.ts";
import { Failure, invalid } from "#worker/lib/errors.ts";
import { TemplateError } from "#worker/lib/handlebars/scan.ts";
import { toHex } from "#worker/lib/ids.ts";
import { type SenderInput, toReceiptTemplate, toSender } from "./schemas.ts";
import { commitIfUnchanged, type Ctx, nextVersion, requireMatch } from "#worker/services/core/context.ts";
import { DEFAULT_RECEIPT, renderReceiptTemplate, PRODUCT, type ReceiptTemplate, SAMPLE_RECEIPT } from "./templates.ts";

/** Sets the sender of the site's email, after verifying that the site owns the domain. */
export async function putSender(ctx: Ctx, input: SenderInput): Promise<SenderRow> {
  const [current] = await ctx.db.select().from(mailSenders).where(eq(mailSenders.siteId, ctx.siteId));
  const next: SenderRow = { ...stamps(ctx, current), ...input };
  if (!isAddressOf(input.fromEmail, input.domain)) throw invalid("fromEmail", `Must be an address of ${input.domain}`);
  await requireProof(ctx, input.domain);
  const change = ctx.db
    .insert(mailSenders)
    .values(next)
    .onConflictDoUpdate({ target: mailSenders.siteId, set: next, setWhere: eq(mailSenders.version, current?.version ?? 0) });
  await commitIfUnchanged(ctx, change, { type: "customemail.senderUpdated", resource: resourceOf(ctx), data: toSender(next) });
  return next;
}

/** Sets the site's receipt template, after checking that it renders. */
export async function putReceipt(ctx: Ctx, input: ReceiptTemplate): Promise<ReceiptRow> {
  const current = await getReceipt(ctx);
  const next: ReceiptRow = { ...stamps(ctx, current), ...input };
  requireRenderable(input);
  const change = ctx.db
    .insert(receiptTemplates)
    .values(next)
    .onConflictDoUpdate({ target: receiptTemplates.siteId, set: next, setWhere: eq(receiptTemplates.version, current?.version ?? 0) });
  await commitIfUnchanged(ctx, change, { type: "customemail.receiptUpdated", resource: resourceOf(ctx), data: toReceiptTemplate(next) });
  return next;
}

/** Resets the receipt to the default, which is returned; a no-op if the site has no template. */
export async function resetReceipt(ctx: Ctx): Promise<ReceiptTemplate> {
  const current = await getReceipt(ctx);
  if (!current) return DEFAULT_RECEIPT;
  requireMatch(ctx, current);
  const change = ctx.db
    .delete(receiptTemplates)
    .where(and(eq(receiptTemplates.siteId, ctx.siteId), eq(receiptTemplates.version, current.version)));
  await commitIfUnchanged(ctx, change, {
    type: "customemail.receiptReset",
    resource: resourceOf(ctx),
    data: toReceiptTemplate(DEFAULT_RECEIPT),
  });
  return DEFAULT_RECEIPT;
}

async function getReceipt(ctx: Ctx): Promise<ReceiptRow | undefined> {
  const [receipt] = await ctx.db.select().from(receiptTemplates).where(eq(receiptTemplates.siteId, ctx.siteId));
  return receipt;
}

function stamps(ctx: Ctx, current: { created: number; version: number } = { created: ctx.now, version: 0 }) {
  return { siteId: ctx.siteId, created: current.created, ...nextVersion(ctx, current) };
}

function resourceOf(ctx: Ctx): string {
  return `customemail/${ctx.siteId}`;
}

function isAddressOf(email: string, domain: string): boolean {
  const host = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return host === domain || host.endsWith(`.${domain}`);
}

async function requireProof(ctx: Ctx, domain: string): Promise<void> {
  const proofs = await domainProofs(ctx.env, ctx.siteId, domain);
  const published = await txtRecords(ctx.env, domain).catch((cause: unknown) => {
    if (!(cause instanceof Failure) || cause.code !== "unavailable") throw cause;
    const message = `${domain} can't be verified now because no DNS resolver responds: make sure that the domain has the TXT record "${proofs[0]}" and try again later.`;
    throw new Failure("unavailable", message, { issues: [{ path: "domain", message }], cause });
  });
  if (proofs.some((proof) => published.includes(proof))) return;
  throw invalid(
    "domain",
    `${domain} can't be verified: add the TXT record "${proofs[0]}" to the domain and try again. The operator of this deployment must also onboard the domain for sending; otherwise mail is sent from the default address.`,
  );
}

/** The accepted TXT records for a site and domain, that of the current secret first. They only change with the deployment's secret. */
export async function domainProofs(env: { TIFO_SECRET: string }, siteId: string, domain: string): Promise<[string, ...string[]]> {
  const [current, ...previous] = secretsOf(env);
  const proof = async (secret: string): Promise<string> => {
    const key = await hmacKey(secret, "sender domain");
    const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${siteId}\n${domain}`));
    return `tifo-verification=${toHex(new Uint8Array(mac).subarray(0, 16))}`;
  };
  return [await proof(current), ...(await Promise.all(previous.map(proof)))];
}

/** A 400 unless subject and template can be parsed, and rendered with a sample receipt. */
function requireRenderable({ subject, template }: ReceiptTemplate): void {
  rejectBadTemplate("subject", () => renderReceiptTemplate({ subject, template: "" }, SAMPLE_RECEIPT, PRODUCT));
  rejectBadTemplate("template", () => renderReceiptTemplate({ subject: "", template }, SAMPLE_RECEIPT, PRODUCT));
}

function rejectBadTemplate(path: string, render: () => unknown): void {
  try {
    render();
  } catch (error) {
    throw error instanceof TemplateError ? invalid(path, error.message) : error;
  }
}
