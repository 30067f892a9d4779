import { z } from "@hono/zod-openapi";
import { Id } from "../../http/schemas.ts";
import { Email } from "../accounts/schemas.ts";

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

export type Login = z.output<typeof Login>;
export type Tokens = z.output<typeof Tokens>;
