import { env } from "cloudflare:workers";
import { onTestFinished } from "vitest";

/** Takes the mail of a test in place of the mail service, which `answer` may make refuse or fail: message by message, as sent. */
export function openMailbox(answer: () => Promise<EmailSendResult> = () => Promise.resolve({ messageId: "test" })): EmailMessageBuilder[] {
  const mails: EmailMessageBuilder[] = [];
  // Not by a spy: what that puts back in place of the binding's own method is not the method any more.
  env.EMAIL.send = (mail: EmailMessage | EmailMessageBuilder) => {
    if ("subject" in mail) mails.push(mail);
    return answer();
  };
  onTestFinished(() => {
    Reflect.deleteProperty(env.EMAIL, "send");
  });
  return mails;
}

/** An error as the mail service's binding throws it. */
export function mailError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
