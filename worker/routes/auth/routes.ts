import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, ANYONE, CLIENT, CLIENT_OR_ANYONE } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { login, logout, refresh } from "#worker/services/auth/auth.ts";
import { consumeIntent } from "#worker/services/auth/intents.ts";
import { createPartnerIntent } from "#worker/services/auth/partner-intents.ts";
import { publicKeys } from "#worker/services/auth/tokens.ts";
import { totp } from "./totp.ts";
import { ConsumedIntent, CreateIntent, Intent, IntentParam, Jwks, Login, Refresh, Tokens } from "#worker/services/auth/schemas.ts";

export const auth = createArea();
const tag = "Authentication";

auth.openapi(
  operation({
    operationId: "getJwks",
    tag,
    method: "get",
    path: "/.well-known/jwks.json",
    summary: "Get the public keys",
    description: "The keys that verify every JWT of this deployment: the current one first, then those before it (RFC 7517).",
    access: { credentials: ANYONE },
    request: {},
    responses: { 200: json("The key set", Jwks) },
  }),
  async (c) => {
    c.header("Cache-Control", "public, max-age=300");
    return c.json(Jwks.parse({ keys: await publicKeys(c.env) }), 200);
  },
);

auth.openapi(
  operation({
    operationId: "login",
    tag,
    method: "post",
    path: "/auth/v2/login",
    summary: "Sign in",
    description:
      "With `siteId`, signs an account of that site in; without it, a global account. After 5 wrong passwords for one account from one address within a minute, 100 from one address, or 100 for one account within an hour from places where it has never signed in, further attempts are rejected with 429 before a password is verified. An account with an authenticator app responds with 401 `totp_required` to the right password alone; send it again with `totp`. An account with roles whose password has fewer than 10 characters is rejected with 403 `password_too_short`.",
    access: { credentials: CLIENT_OR_ANYONE },
    retries: { replay: "none" },
    request: { body: jsonBody(Login) },
    responses: { 200: json("Signed in", Tokens) },
    errors: ["unauthenticated", "totp_required", "password_too_short", "email_not_verified"],
  }),
  async (c) => c.json(await login(c.var.ctx, c.req.valid("json"), callerAddress(c)), 200),
);

auth.openapi(
  operation({
    operationId: "refreshTokens",
    tag,
    method: "post",
    path: "/auth/v2/refresh",
    summary: "Refresh the tokens",
    description:
      "Each refresh token is replaced by the next. For 10 s the one that was replaced last responds with the same next one again, so that tabs which refresh at the same moment all stay signed in. Showing it later, or one before it, ends the whole session, since one of the two who hold it is a thief. A request whose answer was lost may be repeated with its `Idempotency-Key`: for 30 s, and until the next token is used, it is answered with the same refresh token again.",
    access: { credentials: CLIENT_OR_ANYONE },
    retries: { replay: "receipt", keyOwner: "body" },
    request: { body: jsonBody(Refresh) },
    responses: { 200: json("The next pair", Tokens) },
    errors: ["unauthenticated"],
  }),
  async (c) => c.json(await refresh(c.var.ctx, c.req.valid("json").refreshToken), 200),
);

auth.openapi(
  operation({
    operationId: "logout",
    tag,
    method: "post",
    path: "/auth/v2/logout",
    summary: "Sign out",
    description: "Ends the session of the bearer token: the token itself and its refresh tokens stop working at once.",
    access: { credentials: ACCOUNT, accounts: "signedIn" },
    request: {},
    responses: { 204: { description: "Signed out" } },
  }),
  async (c) => {
    await logout(c.var.ctx);
    return c.body(null, 204);
  },
);

auth.openapi(
  operation({
    operationId: "createIntent",
    tag,
    method: "post",
    path: "/auth/v2/intent",
    summary: "Sign in through a partner",
    description:
      "Takes a token that one of the site's registered providers has signed (EdDSA, ES256 or RS256), makes or links the account of its person, and answers a token that signs the person in once, within 10 minutes. An account is linked by its provider's id, or by an e-mail that the provider has verified; if nobody had verified that address before, and the site hadn't set the password, the latter ends its password and sessions.",
    access: { credentials: CLIENT },
    retries: { replay: "none" },
    request: { body: jsonBody(CreateIntent) },
    responses: { 201: json("The intent", Intent) },
    errors: ["conflict", "unavailable"],
  }),
  async (c) => c.json(await createPartnerIntent(c.var.ctx, c.req.valid("json")), 201),
);

auth.openapi(
  operation({
    operationId: "consumeIntent",
    tag,
    method: "get",
    path: "/auth/v2/intent/consume/{token}",
    summary: "Consume an intent",
    description:
      "Signs in the person that the intent stands for. It works once; a second request gets a 404. An account with an authenticator app signs in with its password and a code only (401 `totp_required`).",
    access: { credentials: CLIENT },
    request: { params: IntentParam },
    responses: { 200: json("Signed in", ConsumedIntent) },
    errors: ["not_found", "totp_required"],
  }),
  async (c) => c.json(await consumeIntent(c.var.ctx, c.req.valid("param").token), 200),
);

auth.route("/", totp);
