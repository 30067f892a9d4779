import { z } from "@hono/zod-openapi";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { Email, PersonName } from "#worker/services/accounts/schemas.ts";

const Code = z.string().min(6).max(40).openapi({ example: "287082" });

export const Login = z
  .strictObject({
    email: Email,
    password: z.string().min(1).max(200).openapi({ example: "demo-viewer-pass" }),
    totp: Code.optional().describe("From the account's authenticator app, or a recovery code; asked for by `totp_required`"),
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

export const Totp = z
  .object({
    enabled: z.boolean().describe("Whether a sign-in with the password needs a code"),
    required: z.boolean().describe("Whether the site lets the account's roles count only with a code"),
    confirmedAt: Time.nullable(),
    recoveryCodes: z.number().int().describe("How many are left"),
  })
  .openapi("Totp");

const OwnPassword = Login.shape.password.describe("The caller's own");

export const BeginTotp = z.strictObject({ password: OwnPassword }).openapi("BeginTotp");

export const TotpSecret = z
  .object({
    secret: z.string().describe("Base32, to be typed into an authenticator app; shown this once"),
    uri: z.string().describe("`otpauth:` URI, for a QR code"),
  })
  .openapi("TotpSecret");

export const ConfirmTotp = z.strictObject({ code: Code }).openapi("ConfirmTotp");

export const RecoveryCodes = z
  .object({ recoveryCodes: z.array(z.string()).describe("Each stands in for one code of the app, once; shown this once") })
  .openapi("RecoveryCodes");

export const DisableTotp = z
  .strictObject({ code: Code.optional(), password: OwnPassword.optional() })
  .refine(({ code, password }) => (code === undefined) !== (password === undefined), {
    error: "Either a code or the password",
    path: ["code"],
  })
  .openapi("DisableTotp", { example: { code: "287082" } });

export type Totp = z.output<typeof Totp>;
export type DisableTotp = z.output<typeof DisableTotp>;
export type CreateIntent = z.output<typeof CreateIntent>;
export type ConsumedIntent = z.output<typeof ConsumedIntent>;
export type Login = z.output<typeof Login>;
export type Tokens = z.output<typeof Tokens>;
