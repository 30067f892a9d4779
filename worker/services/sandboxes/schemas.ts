import { z } from "@hono/zod-openapi";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { Account, Email, PersonName, StaffPassword } from "#worker/services/accounts/schemas.ts";
import { SiteAsRead } from "#worker/services/sites/schemas.ts";

const Expires = Time.describe("When the sandbox is deleted, unless it is claimed: milliseconds since 1970 UTC");

export const Sandbox = z
  .object({
    site: SiteAsRead,
    developerKey: z.string().describe("Shown only once"),
    channel: z.object({ _id: Id, slug: z.string(), name: z.string() }),
    password: z.string().describe("The password of both accounts; shown only once"),
    admin: z.object({ accountId: Id, email: z.string() }).describe("An account that may do everything, such as sign in to Studio"),
    viewer: z.object({ accountId: Id, email: z.string() }).describe("An account without roles"),
    pollId: Id.describe("An open prediction on the channel"),
    overlayId: Id.describe("An overlay that can be broadcast"),
    claimToken: z.string().describe("Keeps or discards the sandbox; shown only once"),
    expires: Expires,
  })
  .openapi("Sandbox");

export const SandboxChallenge = z
  .object({
    challenge: z.string().describe("Valid once, until it expires"),
    bits: z.int().describe("How many leading bits of the hash must be zero; 0: this deployment requires no proof of work"),
    expires: Time.describe("When the challenge expires, in milliseconds since 1970 UTC: after ten minutes"),
  })
  .openapi("SandboxChallenge");

export const SandboxProof = z
  .strictObject({
    challenge: z.string().min(1).max(200).describe("The `challenge` of [its response](/docs/api-reference/getSandboxChallenge)"),
    solution: z
      .string()
      .regex(/^[A-Za-z0-9]{1,32}$/)
      .describe("Letters and digits with which the SHA-256 hash of `<challenge>.<solution>` begins with as many zero bits as required"),
  })
  .openapi("SandboxProof", { example: { challenge: "16~1790604600000~q4Zr1c8LmX0sVb3K.n0Jm2hTg", solution: "98412" } });

export type SandboxProof = z.output<typeof SandboxProof>;

const ClaimToken = z.string().min(1).max(100).describe("The `claimToken` of the response that created the sandbox");

export const ClaimSandbox = z
  .strictObject({ claimToken: ClaimToken, email: Email, password: StaffPassword, name: PersonName })
  .openapi("ClaimSandbox", {
    example: { claimToken: "tifo_claim_4Yb2", email: "producer@demo.example", password: "demo-admin-pass", name: "Paula Producer" },
  });

export const DiscardSandbox = z
  .strictObject({ claimToken: ClaimToken })
  .openapi("DiscardSandbox", { example: { claimToken: "tifo_claim_4Yb2" } });

export const ClaimedSandbox = z.object({ site: SiteAsRead, admin: Account }).openapi("ClaimedSandbox");

export const SandboxState = z
  .object({
    siteId: Id,
    expires: Expires.nullable().describe("When the site is deleted, in milliseconds since 1970 UTC; null: it isn't a sandbox, and is kept"),
    mails: z
      .array(z.object({ _id: Id, to: z.string(), subject: z.string(), text: z.string(), created: Time }))
      .describe("The latest 50 emails, newest first. A sandbox sends none; they are shown here instead"),
  })
  .openapi("SandboxState");

export type ClaimSandbox = z.output<typeof ClaimSandbox>;

export const LIFETIME_MS = 72 * 3_600_000;
