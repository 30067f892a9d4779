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
import { ConsumedIntent, CreateIntent, Intent, IntentParam, Jwks, Login, Logout, Refresh, Tokens } from "#worker/services/auth/schemas.ts";

export const auth = createArea();
const tag = "Authentication";

auth.openapi(
  operation({
    operationId: "getJwks",
    tag,
    method: "get",
    path: "/.well-known/jwks.json",
    summary: "Get the public keys",
    description: "Returns the keys that verify every JWT of this deployment (RFC 7517): the current one first, then the previous ones.",
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
      "With `siteId`, signs in to an account of that site; without it, to a global account. After 5 failed attempts within a minute for one account from one address, 100 from one address, or 100 within an hour for one account from places where it has never signed in, further attempts are rejected with 429 before the password is verified. If the account has an authenticator app, the correct password alone returns 401 `totp_required`: send it again with `totp`. If the account has roles and its password has fewer than 10 characters, the response is 403 `password_too_short`.",
    access: { credentials: CLIENT_OR_ANYONE },
    retries: { replay: "none" },
    request: { body: jsonBody(Login) },
    responses: { 200: json("Signed in", Tokens) },
    errors: ["unauthenticated", "totp_required", "password_too_short", "email_not_verified"],
  }),
  async (c) => c.json(await login(c.get("ctx"), c.req.valid("json"), callerAddress(c)), 200),
);

auth.openapi(
  operation({
    operationId: "refreshTokens",
    tag,
    method: "post",
    path: "/auth/v2/refresh",
    summary: "Refresh the tokens",
    description:
      "Exchanges a refresh token for the next pair of tokens. For 10 s, the last used token returns the same next one again, so tabs that refresh concurrently all stay signed in. Using it later, or using an older one, ends the whole session, since the token may have been stolen. If the response was lost, repeat the request with its `Idempotency-Key`: for 30 s, and until the next token is used, it returns the same refresh token again.",
    access: { credentials: CLIENT_OR_ANYONE },
    retries: { replay: "receipt", keyOwner: "body" },
    request: { body: jsonBody(Refresh) },
    responses: { 200: json("The next pair", Tokens) },
    errors: ["unauthenticated"],
  }),
  async (c) => c.json(await refresh(c.get("ctx"), c.req.valid("json").refreshToken), 200),
);

auth.openapi(
  operation({
    operationId: "logout",
    tag,
    method: "post",
    path: "/auth/v2/logout",
    summary: "Sign out",
    description:
      "Ends the session of the bearer token: the token and its refresh tokens stop working immediately. With `everywhere`, ends every session of the account.",
    access: { credentials: ACCOUNT, accounts: "signedIn" },
    request: { query: Logout },
    responses: { 204: { description: "Signed out" } },
  }),
  async (c) => {
    await logout(c.get("ctx"), c.req.valid("query").everywhere);
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
      "Takes a token signed by one of the site's registered providers (EdDSA, ES256 or RS256), creates or links the person's account, and returns a single-use token that signs the person in within 10 minutes. An account is found by the provider's id, or by an email address that the provider has verified. Linking by address voids the account's password and sessions if the address was unverified and the site didn't set the password.",
    access: { credentials: CLIENT },
    limit: { name: "createIntent" },
    retries: { replay: "none" },
    request: { body: jsonBody(CreateIntent) },
    responses: { 201: json("The intent", Intent) },
    errors: ["conflict"],
  }),
  async (c) => c.json(await createPartnerIntent(c.get("ctx"), c.req.valid("json")), 201),
);

auth.openapi(
  operation({
    operationId: "consumeIntent",
    tag,
    method: "get",
    path: "/auth/v2/intent/consume/{token}",
    summary: "Consume an intent",
    description:
      "Signs in the person for whom the intent was created. It works once; a second request returns 404. An account with an authenticator app can only sign in with its password and a code (401 `totp_required`).",
    access: { credentials: CLIENT, readsPrimary: true },
    request: { params: IntentParam },
    responses: { 200: json("Signed in", ConsumedIntent) },
    errors: ["not_found", "totp_required"],
  }),
  async (c) => c.json(await consumeIntent(c.get("ctx"), c.req.valid("param").token), 200),
);

auth.route("/", totp);
