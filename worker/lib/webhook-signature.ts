import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";

/** A new signing secret: `whsec_` and 32 random bytes in base64, as Standard Webhooks has them. */
export function newWebhookSecret(): string {
  return `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
}

/** The `signature` of a payload: hex HMAC-SHA256 of the JSON text of its `eventData`, keyed by the secret's text as it was shown. */
export function signEventData(secret: string, eventData: string): string {
  return createHmac("sha256", secret).update(eventData).digest("hex");
}

/** The headers of Standard Webhooks; `at` in milliseconds. Signed with each of the secrets, so that a receiver may know either. */
export function standardHeaders(secrets: string[], id: string, at: number, body: string): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body));
  return { "webhook-id": id, "webhook-timestamp": String(Math.floor(at / 1000)), "webhook-signature": signatures.join(" ") };
}
