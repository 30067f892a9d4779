import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newWebhookSecret, signEventData, signingKeys, standardHeaders } from "./signature.ts";

const BODY = '{"eventData":{"id":"1"}}';

test("a secret is 32 random bytes after its prefix", () => {
  const secret = newWebhookSecret();
  expect(Buffer.from(secret.slice("whsec_".length), "base64")).toHaveLength(32);
  expect(newWebhookSecret()).not.toBe(secret);
});

test.each(["{}", '"Ž⚽é"', "x".repeat(100_000), ""])("the hex signature is keyed with the secret as shown", async (eventData) => {
  const expected = createHmac("sha256", "whsec_abc").update(eventData).digest("hex");
  expect(await signEventData(await signingKeys("whsec_abc"), eventData)).toBe(expected);
});

test("concurrent signatures don't interfere", async () => {
  const keys = await signingKeys("whsec_abc");
  const texts = ["a".repeat(1000), "b".repeat(10), "⚽".repeat(500)];
  const expected = texts.map((text) => createHmac("sha256", "whsec_abc").update(text).digest("hex"));
  expect(await Promise.all(texts.map((text) => signEventData(keys, text)))).toEqual(expected);
});

test("the official library verifies the headers with either of two secrets, but not with a third", async () => {
  const [current, previous, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
  const headers = await standardHeaders(await Promise.all([current, previous].map(signingKeys)), "event-1", Date.now(), BODY);
  for (const secret of [current, previous]) expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  expect(() => new Webhook(other).verify(BODY, headers)).toThrow();
});

test("the timestamp is in whole seconds, and never in the future", async () => {
  const headers = await standardHeaders([await signingKeys(newWebhookSecret())], "event-1", 1_795_273_200_999, BODY);
  expect(headers["webhook-timestamp"]).toBe("1795273200");
});
