import { z } from "@hono/zod-openapi";
import { Id, Time } from "../../http/schemas.ts";
import { Email, PersonName } from "../accounts/schemas.ts";

export const Login = z
  .strictObject({
    email: Email,
    password: z.string().min(1).max(200).openapi({ example: "demo-viewer-pass" }),
    siteId: Id.optional().describe("The site to sign in to; without it, a global account is signed in, for `/account/v3/global/*` alone"),
  })
  .openapi("Login", { example: { email: "admin@demo.example", password: "demo-admin-pass", siteId: "5eed00000000000000000001" } });

export const Refresh = z.strictObject({ refreshToken: z.string().min(1).max(500) }).openapi("Refresh");

export const Tokens = z
  .object({
    jwt: z.string().describe("For `Authorization: Bearer`; good for 10 minutes"),
    refreshToken: z.string().describe("Brings the next pair, once; good for 30 days"),
    service: z.literal("auth-service-v2"),
  })
  .openapi("Tokens");

export const Jwks = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        alg: z.literal("EdDSA"),
        use: z.literal("sig"),
        kid: z.string(),
        x: z.string(),
      }),
    ),
  })
  .openapi("Jwks");

const Token = z
  .string()
  .regex(/^[\w-]{43}$/, "43 characters of base64url")
  .openapi({ example: "q".repeat(43) });

export const CreateIntent = z
  .strictObject({
    jwt: z
      .string()
      .min(1)
      .max(8192)
      .describe("Signed by the provider: `sub` is the thirdPartyAccountId, with `aud` and `exp`; `email` counts when `email_verified`"),
    name: PersonName.describe("Of the person, for an account that is made"),
    provider: z.string().min(1).max(100).describe("As the site's settings.security.providers name it").openapi({ example: "club-app" }),
    service: z.string().min(1).max(100).describe("Comes back when the intent is consumed").openapi({ example: "club-app-ios" }),
    thirdPartyAccountId: z.string().min(1).max(200).openapi({ example: "fan-0417" }),
  })
  .openapi("CreateIntent");

export const Intent = z.object({ token: Token.describe("To be consumed once"), expiresAt: Time }).openapi("Intent");

export const IntentParam = z.object({ token: Token });

export const ConsumedIntent = z
  .object({
    authenticated: z.literal(true),
    jwt: Tokens.shape.jwt,
    refreshToken: Tokens.shape.refreshToken,
    service: z.string().describe("As the intent was made with"),
    siteId: Id,
    token: Token.describe("The intent's, used up now"),
    name: z.string(),
    thirdPartyAccountId: z.string().nullable(),
  })
  .openapi("ConsumedIntent");

export type CreateIntent = z.output<typeof CreateIntent>;
export type ConsumedIntent = z.output<typeof ConsumedIntent>;
export type Login = z.output<typeof Login>;
export type Tokens = z.output<typeof Tokens>;
