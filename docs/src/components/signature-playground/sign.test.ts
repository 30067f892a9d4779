import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { hexSignature, signedContent, standardSignature } from "./sign.ts";

const BODY = '{"match":{"minute":17,"scorer":"Zoë"}}';

test("computes the same HMAC as Node, over bytes and not characters", async () => {
  expect(await hexSignature("tifo_dp_demo", BODY)).toBe(createHmac("sha256", "tifo_dp_demo").update(BODY).digest("hex"));
});

test("signs the timestamp before the body if there is one", () => {
  expect(signedContent(BODY, "")).toBe(BODY);
  expect(signedContent("{}", "1795273200")).toBe("1795273200.{}");
});

test("signs a webhook like the reference library", async () => {
  const secret = `whsec_${btoa("a secret of a webhook's endpoint")}`;
  const time = new Date(1_795_273_200_000);
  expect(await standardSignature(secret, "msg_1", "1795273200", BODY)).toBe(new Webhook(secret).sign("msg_1", time, BODY));
});
