import { createArea } from "#worker/http/area.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { beginTotp, confirmTotp, disableTotp, readTotp } from "#worker/services/auth/totp.ts";
import { BeginTotp, ConfirmTotp, DisableTotp, RecoveryCodes, Totp, TotpSecret } from "#worker/services/auth/schemas.ts";

export const totp = createArea();
const tag = "Authentication";

totp.openapi(
  operation({
    operationId: "getTotp",
    tag,
    method: "get",
    path: "/auth/v2/totp",
    summary: "Get the state of your authenticator app",
    description:
      "Returns whether your sign-in requires a one-time code, whether the site requires one, and how many recovery codes are left.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: {},
    responses: { 200: json("The state", Totp) },
  }),
  async (c) => c.json(await readTotp(c.get("ctx")), 200),
);

totp.openapi(
  operation({
    operationId: "beginTotp",
    tag,
    method: "post",
    path: "/auth/v2/totp",
    summary: "Set up an authenticator app",
    description:
      "Creates a secret for an app that shows one-time codes (TOTP, RFC 6238: SHA-1, 6 digits, 30 s). Nothing changes until you confirm it with a code. Wrong passwords count as failed sign-ins.",
    access: { credentials: ACCOUNT, accounts: "any" },
    retries: { replay: "none" },
    request: { body: jsonBody(BeginTotp) },
    responses: { 201: json("The secret", TotpSecret) },
    errors: ["conflict"],
  }),
  async (c) => c.json(await beginTotp(c.get("ctx"), c.req.valid("json").password, callerAddress(c)), 201),
);

totp.openapi(
  operation({
    operationId: "confirmTotp",
    tag,
    method: "post",
    path: "/auth/v2/totp/confirm",
    summary: "Confirm the authenticator app",
    description:
      "Enables the authenticator app: from now on, signing in with the password requires a code. Returns ten recovery codes, shown only once, and ends all other sessions of the account.",
    access: { credentials: ACCOUNT, accounts: "any" },
    retries: { replay: "none" },
    request: { body: jsonBody(ConfirmTotp) },
    responses: { 200: json("The recovery codes", RecoveryCodes) },
    errors: ["conflict"],
  }),
  async (c) => c.json(await confirmTotp(c.get("ctx"), c.req.valid("json").code, callerAddress(c)), 200),
);

totp.openapi(
  operation({
    operationId: "disableTotp",
    tag,
    method: "post",
    path: "/auth/v2/totp/disable",
    summary: "Disable the authenticator app",
    description: "Requires a code of the app, a recovery code, or the password. The recovery codes stop working too.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { body: jsonBody(DisableTotp) },
    responses: { 204: { description: "Disabled" } },
    errors: ["conflict"],
  }),
  async (c) => {
    await disableTotp(c.get("ctx"), c.req.valid("json"), callerAddress(c));
    return c.body(null, 204);
  },
);
