import { env } from "cloudflare:workers";
import { onTestFinished } from "vitest";

/** Collects the emails that a test sends. `respond` replaces the email service's response, for example with an error. */
export function openMailbox(respond: () => Promise<EmailSendResult> = () => Promise.resolve({ messageId: "test" })): EmailMessageBuilder[] {
  const emails: EmailMessageBuilder[] = [];
  const binding = env.EMAIL;
  const send = (email: EmailMessage | EmailMessageBuilder) => {
    if ("subject" in email) emails.push(email);
    return respond();
  };
  // On the binding, because Durable Objects have their own env, and on this env, which may get a new binding.
  binding.send = send;
  Object.defineProperty(env, "EMAIL", { value: { send }, configurable: true, enumerable: true, writable: true });
  onTestFinished(() => {
    Reflect.deleteProperty(binding, "send");
    Object.defineProperty(env, "EMAIL", { value: binding, configurable: true, enumerable: true, writable: true });
  });
  return emails;
}

/** An error as the email binding throws it. */
export function emailError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
