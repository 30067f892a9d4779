import { z } from "@hono/zod-openapi";

/** A rendered message to one person. */
export interface Message {
  from: { name: string; email: string };
  replyTo?: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** "sent", or why it can never be delivered. */
export type Delivery = "sent" | PermanentError;

// Errors of Cloudflare's Email Service that a retry won't fix.
const PERMANENT_ERRORS = [
  "E_VALIDATION_ERROR",
  "E_FIELD_MISSING",
  "E_SENDER_NOT_VERIFIED",
  "E_RECIPIENT_NOT_ALLOWED",
  "E_RECIPIENT_SUPPRESSED",
  "E_CONTENT_TOO_LARGE",
] as const;
export type PermanentError = (typeof PERMANENT_ERRORS)[number];

const Rejected = z.object({ code: z.enum(PERMANENT_ERRORS) });

/** Sends a message through the mail service; throws if a retry may succeed. Locally it is written to a file. */
export async function deliver(env: Env, { from, replyTo, to, subject, text, html }: Message): Promise<Delivery> {
  try {
    await env.EMAIL.send({ from, to, subject, text, html, ...(replyTo === undefined ? {} : { replyTo }) });
    return "sent";
  } catch (error) {
    const rejected = Rejected.safeParse(error);
    if (rejected.success) return rejected.data.code;
    // The original message may contain an address, which must not be logged.
    throw new Error("The mail service failed", { cause: error });
  }
}
