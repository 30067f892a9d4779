import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { askReset, changePassword, useReset } from "#worker/services/accounts/passwords.ts";
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
    summary: "Change one's own password",
    description:
      "Ends every session of the account and answers the tokens of a new one, so that the caller stays signed in. Wrong old passwords count as wrong sign-ins. Accounts with roles need at least 10 characters.",
    access: { credentials: ACCOUNT, accounts: "any" },
    retries: { replay: "none" },
    request: { body: jsonBody(ChangePassword) },
    responses: { 200: json("The caller's new session", Tokens) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => c.json(await changePassword(c.var.ctx, c.req.valid("json"), callerAddress(c)), 200),
);

passwords.openapi(
  operation({
    operationId: "resetTotp",
    tag,
    method: "delete",
    path: "/account/v3/{id}/totp",
    summary: "Remove an account's authenticator app",
    description:
      "For somebody who has lost their app and recovery codes. They sign in with the password alone from then on. A key needs `roles:write` too where the account has roles.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 204: { description: "Removed" } },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await resetTotp(c.var.ctx, c.req.valid("param").id);
    return c.body(null, 204);
  },
);

const resets = [
  { kind: "site", path: "/account/v3/reset", ask: "askPasswordReset", use: "resetPassword", whose: "an account's password" },
  {
    kind: "global",
    path: "/account/v3/reset/global-accounts",
    ask: "askGlobalPasswordReset",
    use: "resetGlobalPassword",
    whose: "a global account's password",
  },
] as const;

for (const { kind, path, ask, use, whose } of resets) {
  passwords.openapi(
    operation({
      operationId: ask,
      tag,
      method: "post",
      path,
      summary: `Ask to reset ${whose}`,
      description: `Mails a link that resets ${whose}, good for one hour and once. The answer is the same whether there is such an account; a second mail goes out after a minute at the earliest.${kind === "global" ? " The account must administer the site of the client id." : ""}`,
      access: { credentials: CLIENT },
      request: { body: jsonBody(AskReset) },
      responses: { 200: json("Asked", Success) },
    }),
    async (c) => {
      await askReset(c.var.ctx, c.req.valid("json"), kind, callerAddress(c));
      return c.json(success, 200);
    },
  );

  passwords.openapi(
    operation({
      operationId: use,
      tag,
      method: "post",
      path: `${path}/update`,
      summary: `Reset ${whose}`,
      description: `Sets ${whose} with the token of the mail's link, and ends every session of the old one.`,
      access: { credentials: CLIENT },
      request: { body: jsonBody(UseReset) },
      responses: { 200: json("The password is set", Success) },
    }),
    async (c) => {
      await useReset(c.var.ctx, c.req.valid("json"), kind, callerAddress(c));
      return c.json(success, 200);
    },
  );
}
