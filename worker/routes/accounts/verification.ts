import { createArea } from "#worker/http/area.ts";
import { CLIENT_WITH_OR_WITHOUT_ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { askVerification } from "#worker/services/accounts/email-proofs.ts";
import { verifyEmail } from "#worker/services/accounts/verification.ts";
import { AskVerification, Success, VerifyEmail } from "#worker/services/accounts/schemas.ts";

export const verification = createArea();
const tag = "Accounts";
const success = { success: true } as const;

verification.openapi(
  operation({
    operationId: "verifyEmail",
    tag,
    method: "post",
    path: "/account/v3/verify-email",
    summary: "Verify an e-mail address",
    description:
      "Takes the token of a verification mail, which is valid for 24 hours and once. Anybody can sign up with an address that isn't theirs, so the token alone isn't enough: call with the account's bearer token, or send its `password`. Without either, the response is 403 `password_required`, and the token stays valid: ask for the password, or offer to choose a new one and send it as `newPassword`, which ends the old password, sessions and authenticator app. Accounts whose credentials staff have set need no such proof. An address also counts as verified when its owner uses a reset link, accepts an invitation by e-mail, or signs in through a partner that asserts it.",
    access: { credentials: CLIENT_WITH_OR_WITHOUT_ACCOUNT, accounts: "any" },
    request: { body: jsonBody(VerifyEmail) },
    errors: ["password_required", "conflict"],
    responses: { 200: json("The address is verified", Success) },
  }),
  async (c) => {
    await verifyEmail(c.var.ctx, c.req.valid("json"), callerAddress(c));
    return c.json(success, 200);
  },
);

verification.openapi(
  operation({
    operationId: "requestEmailVerification",
    tag,
    method: "post",
    path: "/account/v3/verify-email/request",
    summary: "Request a verification mail",
    description:
      "Mails a new link to an address that isn't verified yet: the caller's own with a bearer token, else `email`. The response is the same whether there is such an account; one account receives at most one mail a minute and 10 a day.",
    access: { credentials: CLIENT_WITH_OR_WITHOUT_ACCOUNT, accounts: "any" },
    request: { body: jsonBody(AskVerification) },
    responses: { 200: json("Requested", Success) },
  }),
  async (c) => {
    await askVerification(c.var.ctx, c.req.valid("json"), callerAddress(c));
    return c.json(success, 200);
  },
);
