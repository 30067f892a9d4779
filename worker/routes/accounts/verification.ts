import { createArea } from "#worker/http/area.ts";
import { CLIENT_WITH_OR_WITHOUT_ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { requestVerification } from "#worker/services/accounts/email-proofs.ts";
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
    summary: "Verify an email address",
    description:
      "Verifies an address with the token of a verification email, which is valid for 24 hours and works once. Anyone can sign up with someone else's address, so the token alone isn't enough: call with the account's bearer token, or send its `password`. Without either, the response is 403 `password_required` and the token stays valid: prompt for the password, or for a new one and send it as `newPassword`, which voids the old password, sessions and authenticator app. If staff have set the account's credentials, the token is enough. An address also counts as verified when its owner uses a reset link, accepts an emailed invitation, or signs in through a partner that asserts it.",
    access: { credentials: CLIENT_WITH_OR_WITHOUT_ACCOUNT, accounts: "any" },
    request: { body: jsonBody(VerifyEmail) },
    errors: ["password_required", "conflict"],
    responses: { 200: json("The address is verified", Success) },
  }),
  async (c) => {
    await verifyEmail(c.get("ctx"), c.req.valid("json"), callerAddress(c));
    return c.json(success, 200);
  },
);

verification.openapi(
  operation({
    operationId: "requestEmailVerification",
    tag,
    method: "post",
    path: "/account/v3/verify-email/request",
    summary: "Request a verification email",
    description:
      "Mails a new link to an unverified address: the caller's own with a bearer token, otherwise `email`. The response is the same whether or not the account exists. An account receives at most one email a minute and 10 a day.",
    access: { credentials: CLIENT_WITH_OR_WITHOUT_ACCOUNT, accounts: "any" },
    request: { body: jsonBody(AskVerification) },
    responses: { 200: json("Requested", Success) },
  }),
  async (c) => {
    await requestVerification(c.get("ctx"), c.req.valid("json"), callerAddress(c));
    return c.json(success, 200);
  },
);
