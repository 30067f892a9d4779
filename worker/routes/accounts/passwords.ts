import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { requestReset, changePassword, redeemReset } from "#worker/services/accounts/passwords.ts";
import { resetTotp } from "#worker/services/auth/totp.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { AskReset, ChangePassword, Success, UseReset } from "#worker/services/accounts/schemas.ts";

export const passwords = createArea();
const tag = "Accounts";
const success = { success: true } as const;

passwords.openapi(
  operation({
    operationId: "changePassword",
    tag,
    method: "put",
    path: "/account/v3/password",
    summary: "Change your own password",
    description:
      "Ends every session of the account and returns the tokens of a new one, so the caller stays signed in. Wrong old passwords count as failed sign-ins. For accounts with roles, the password needs at least 10 characters.",
    access: { credentials: ACCOUNT, accounts: "any" },
    retries: { replay: "none" },
    request: { body: jsonBody(ChangePassword) },
    responses: { 200: json("The caller's new session", Tokens) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => c.json(await changePassword(c.get("ctx"), c.req.valid("json"), callerAddress(c)), 200),
);

passwords.openapi(
  operation({
    operationId: "resetTotp",
    tag,
    method: "delete",
    path: "/account/v3/{id}/totp",
    summary: "Remove an account's authenticator app",
    description:
      "For a person who has lost their app and recovery codes; from then on they sign in with only their password. If the account has roles, a key also needs `roles:write`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 204: { description: "Removed" } },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await resetTotp(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);

const resets = [
  { kind: "site", path: "/account/v3/reset", request: "askPasswordReset", redeem: "resetPassword", subject: "an account's password" },
  {
    kind: "global",
    path: "/account/v3/reset/global-accounts",
    request: "askGlobalPasswordReset",
    redeem: "resetGlobalPassword",
    subject: "a global account's password",
  },
] as const;

for (const { kind, path, request, redeem, subject } of resets) {
  passwords.openapi(
    operation({
      operationId: request,
      tag,
      method: "post",
      path,
      summary: `Request a reset of ${subject}`,
      description: `Mails a link that resets ${subject}; it is valid for one hour and works once. The response is the same whether or not the account exists. At most one email is sent per minute.${kind === "global" ? " The account must administer the site of the client id." : ""}`,
      access: { credentials: CLIENT },
      request: { body: jsonBody(AskReset) },
      responses: { 200: json("Requested", Success) },
    }),
    async (c) => {
      const from = { address: callerAddress(c), origin: new URL(c.req.url).origin };
      await requestReset(c.get("ctx"), c.req.valid("json"), kind, from);
      return c.json(success, 200);
    },
  );

  passwords.openapi(
    operation({
      operationId: redeem,
      tag,
      method: "post",
      path: `${path}/update`,
      summary: `Reset ${subject}`,
      description: `Sets ${subject} with the token from the mailed link, and ends every session.`,
      access: { credentials: CLIENT },
      request: { body: jsonBody(UseReset) },
      responses: { 200: json("The password is set", Success) },
    }),
    async (c) => {
      await redeemReset(c.get("ctx"), c.req.valid("json"), kind, callerAddress(c));
      return c.json(success, 200);
    },
  );
}
