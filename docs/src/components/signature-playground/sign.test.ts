import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { hexSignature, signedContent, standardSignature } from "./sign.ts";

const BODY = '{"match":{"minute":17,"scorer":"Zoë"}}';

test("signs as Node's own HMAC does, by bytes and not by characters", async () => {
  expect(await hexSignature("tifo_dp_demo", BODY)).toBe(createHmac("sha256", "tifo_dp_demo").update(BODY).digest("hex"));
});

test("puts the time before what is signed, where one is given", () => {
  expect(signedContent(BODY, "")).toBe(BODY);
  expect(signedContent("{}", "1795273200")).toBe("1795273200.{}");
});

test("signs a webhook as the reference library does", async () => {
  const secret = `whsec_${btoa("a secret of a webhook's endpoint")}`;
  const time = new Date(1_795_273_200_000);
  expect(await standardSignature(secret, "msg_1", "1795273200", BODY)).toBe(new Webhook(secret).sign("msg_1", time, BODY));
});
