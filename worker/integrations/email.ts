import { z } from "@hono/zod-openapi";

/** A message as the adapter takes it: rendered, to one person. */
export interface Message {
  from: { name: string; email: string };
  replyTo?: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** "sent", or why it never will be. */
export type Delivery = "sent" | Refusal;

// What Cloudflare's Email Service answers to a message that it will not take the next time either.
const REFUSALS = [
  "E_VALIDATION_ERROR",
  "E_FIELD_MISSING",
  "E_SENDER_NOT_VERIFIED",
  "E_RECIPIENT_NOT_ALLOWED",
  "E_RECIPIENT_SUPPRESSED",
  "E_CONTENT_TOO_LARGE",
] as const;
export type Refusal = (typeof REFUSALS)[number];

const Refused = z.object({ code: z.enum(REFUSALS) });

/** Hands a message to the mail service; throws when another try may succeed. Locally it becomes a file. */
export async function deliver(env: Env, { from, replyTo, to, subject, text, html }: Message): Promise<Delivery> {
  try {
    await env.EMAIL.send({ from, to, subject, text, html, ...(replyTo === undefined ? {} : { replyTo }) });
    return "sent";
  } catch (error) {
    const refused = Refused.safeParse(error);
    if (refused.success) return refused.data.code;
    // Its own message may hold an address, which must not get into a log.
    throw new Error("The mail service failed", { cause: error });
  }
}
