import { env } from "cloudflare:workers";
import { onTestFinished } from "vitest";

/** Takes the mail of a test in place of the mail service, which `answer` may make refuse or fail: message by message, as sent. */
export function openMailbox(answer: () => Promise<EmailSendResult> = () => Promise.resolve({ messageId: "test" })): EmailMessageBuilder[] {
  const mails: EmailMessageBuilder[] = [];
  const binding = env.EMAIL;
  const send = (mail: EmailMessage | EmailMessageBuilder) => {
    if ("subject" in mail) mails.push(mail);
    return answer();
  };
  // On the binding for the objects, which have an env of their own, and on this env for the test, which may be given the binding anew.
  binding.send = send;
  Object.defineProperty(env, "EMAIL", { value: { send }, configurable: true, enumerable: true, writable: true });
  onTestFinished(() => {
    Reflect.deleteProperty(binding, "send");
    Object.defineProperty(env, "EMAIL", { value: binding, configurable: true, enumerable: true, writable: true });
  });
  return mails;
}

/** An error as the mail service's binding throws it. */
export function mailError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
