import { createArea } from "../../http/area.ts";
import { ACCOUNT, ANYONE, CLIENT_OR_ANYONE } from "../../http/credentials.ts";
import { callerAddress } from "../../http/limits.ts";
import { operation } from "../../http/operation.ts";
import { json, jsonBody } from "../../http/schemas.ts";
import { login, logout, refresh } from "../../services/auth.ts";
import { publicKeys } from "../../services/tokens.ts";
import { Jwks, Login, Refresh, Tokens } from "./schemas.ts";

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
    credentials: ANYONE,
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
      "With `siteId`, signs an account of that site in; without it, a global account. After 5 wrong passwords for one account from one address within a minute, further tries are refused unread.",
    credentials: CLIENT_OR_ANYONE,
    secretAnswer: true,
    request: { body: jsonBody(Login) },
    responses: { 200: json("Signed in", Tokens) },
    errors: ["unauthenticated"],
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
      "Each refresh token works once. Showing one again that was used ends the whole session, since one of the two who hold it is a thief.",
    credentials: CLIENT_OR_ANYONE,
    secretAnswer: true,
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
    credentials: ACCOUNT,
    accounts: "signedIn",
    request: {},
    responses: { 204: { description: "Signed out" } },
  }),
  async (c) => {
    await logout(c.var.ctx);
    return c.body(null, 204);
  },
);
