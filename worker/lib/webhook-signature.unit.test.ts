import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newWebhookSecret, signEventData, standardHeaders } from "./webhook-signature.ts";

const BODY = '{"eventData":{"id":"1"}}';

test("a secret is 32 random bytes behind its prefix", () => {
  const secret = newWebhookSecret();
  expect(Buffer.from(secret.slice("whsec_".length), "base64")).toHaveLength(32);
  expect(newWebhookSecret()).not.toBe(secret);
});

test("the hex signature is keyed by the secret as it is shown", () => {
  expect(signEventData("whsec_abc", "{}")).toBe(createHmac("sha256", "whsec_abc").update("{}").digest("hex"));
});

test("the public library verifies the headers with either of two secrets, and with no third", () => {
  const [current, previous, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
  const headers = standardHeaders([current, previous], "event-1", Date.now(), BODY);
  for (const secret of [current, previous]) expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  expect(() => new Webhook(other).verify(BODY, headers)).toThrow();
});
