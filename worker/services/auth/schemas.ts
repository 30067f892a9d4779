import { z } from "@hono/zod-openapi";
import { Id, QueryBoolean, Time } from "#worker/lib/schemas/common.ts";
import { Email, PersonName } from "#worker/services/accounts/schemas.ts";

const Code = z.string().min(6).max(40).openapi({ example: "287082" });

export const Login = z
  .strictObject({
    email: Email,
    password: z.string().min(1).max(200).openapi({ example: "demo-viewer-pass" }),
    totp: Code.optional().describe(
      "A code from the account's authenticator app, or a recovery code; required after a `totp_required` error",
    ),
    siteId: Id.optional().describe("The site to sign in to; without it, signs in to a global account, for `/account/v3/global/*` only"),
  })
  .openapi("Login", { example: { email: "admin@demo.example", password: "demo-admin-pass", siteId: "5eed00000000000000000001" } });

export const Refresh = z.strictObject({ refreshToken: z.string().min(1).max(500) }).openapi("Refresh");

export const Logout = z.strictObject({
  everywhere: QueryBoolean.optional().describe("Set to `true` to end the account's sessions on all devices"),
});

export const Tokens = z
  .object({
    jwt: z.string().describe("For `Authorization: Bearer`; valid for 10 minutes"),
    refreshToken: z.string().describe("Returns the next pair of tokens, once; valid for 30 days"),
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
      .describe(
        "A token signed by the provider with `sub` (the thirdPartyAccountId), `aud` and `exp`; `email` is used only with `email_verified`",
      ),
    name: PersonName.describe("The person's name, used if an account is created"),
    provider: z.string().min(1).max(100).describe("A name in the site's settings.security.providers").openapi({ example: "club-app" }),
    service: z.string().min(1).max(100).describe("Returned when the intent is consumed").openapi({ example: "club-app-ios" }),
    thirdPartyAccountId: z.string().min(1).max(200).openapi({ example: "fan-0417" }),
  })
  .openapi("CreateIntent");

export const Intent = z.object({ token: Token.describe("Can be consumed once"), expiresAt: Time }).openapi("Intent");

export const IntentParam = z.object({ token: Token });

export const ConsumedIntent = z
  .object({
    authenticated: z.literal(true),
    jwt: Tokens.shape.jwt,
    refreshToken: Tokens.shape.refreshToken,
    service: z.string().describe("The `service` that the intent was created with"),
    siteId: Id,
    token: Token.describe("The intent's token, now used"),
    name: z.string(),
    thirdPartyAccountId: z.string().nullable(),
  })
  .openapi("ConsumedIntent");

export const Totp = z
  .object({
    enabled: z.boolean().describe("Whether signing in with the password requires a code"),
    required: z.boolean().describe("Whether the site requires an authenticator app for the account's roles to apply"),
    confirmedAt: Time.nullable(),
    recoveryCodes: z.number().int().describe("The number of unused recovery codes"),
  })
  .openapi("Totp");

const OwnPassword = Login.shape.password.describe("The caller's own password");

export const BeginTotp = z.strictObject({ password: OwnPassword }).openapi("BeginTotp");

export const TotpSecret = z
  .object({
    secret: z.string().describe("Base32, to enter in an authenticator app; shown only once"),
    uri: z.string().describe("`otpauth:` URI, for a QR code"),
  })
  .openapi("TotpSecret");

export const ConfirmTotp = z.strictObject({ code: Code }).openapi("ConfirmTotp");

export const RecoveryCodes = z
  .object({ recoveryCodes: z.array(z.string()).describe("Each replaces a code of the app once; shown only once") })
  .openapi("RecoveryCodes");

export const DisableTotp = z
  .strictObject({ code: Code.optional(), password: OwnPassword.optional() })
  .refine(({ code, password }) => (code === undefined) !== (password === undefined), {
    error: "Provide either a code or the password",
    path: ["code"],
  })
  .openapi("DisableTotp", { example: { code: "287082" } });

export type Totp = z.output<typeof Totp>;
export type DisableTotp = z.output<typeof DisableTotp>;
export type CreateIntent = z.output<typeof CreateIntent>;
export type ConsumedIntent = z.output<typeof ConsumedIntent>;
export type Login = z.output<typeof Login>;
export type Tokens = z.output<typeof Tokens>;
