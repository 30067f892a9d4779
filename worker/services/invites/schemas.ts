import { z } from "@hono/zod-openapi";
import type { RegisterInviteRow } from "#db/schema/index.ts";
import { Id, QueryBoolean, Sku, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import type { Invite as InviteWithToken } from "./invite-rows.ts";
import { AccountRole, Email, PersonName, StaffPassword } from "#worker/services/accounts/schemas.ts";

export const InviteToken = z
  .string()
  .regex(/^(?:[A-Za-z0-9]{6}|[A-Za-z0-9]{22})$/, "6 letters and digits, or 22")
  .openapi({ example: "a7Bk2Z" });
export const InviteTokenParam = z.object({ token: InviteToken });

const RedirectUri = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .describe("Where the link leads, with `intent` added; its origin is one of the site's settings.security.allowedOrigins")
  .openapi({ example: "https://demo.example/welcome" });

const editable = {
  redirectUri: RedirectUri,
  siteId: Id.describe("Must equal Tifo-Client-Id"),
  targetSkus: z.array(Sku).min(1).max(50).describe("What the holder is granted"),
  tags: Tags.default([]),
  expiresAt: Time.optional().describe("Milliseconds since 1970 UTC, at most a year from now; when left out, 7 days from now, or unchanged"),
};

export const InviteInput = z.strictObject(editable).openapi("InviteInput", {
  example: { redirectUri: "https://demo.example/welcome", siteId: "5eed00000000000000000001", targetSkus: ["season-pass"] },
});

export const UpdateInvite = z.strictObject({ ...editable, siteId: editable.siteId.optional() }).openapi("UpdateInvite", {
  example: { redirectUri: "https://demo.example/welcome", targetSkus: ["season-pass"], tags: ["press"] },
});

export const InviteFilters = { consumed: QueryBoolean.optional(), revoked: QueryBoolean.optional() };

export const Invite = z
  .object({
    _id: Id,
    siteId: Id,
    type: z.literal("magic-link"),
    token: InviteToken,
    inviteUrl: z.string().describe("The link to hand out"),
    redirectUri: RedirectUri,
    targetSkus: z.array(z.string()),
    consumed: z.boolean().describe("The link has been opened"),
    revoked: z.boolean(),
    accountId: Id.nullable().describe("The account that it was redeemed into"),
    expiresAt: Time,
    tags: Tags,
    ...Tracked,
  })
  .openapi("Invite");

export const RegisterInviteInput = z
  .strictObject({
    email: Email,
    senderAccountId: Id.describe("Who invites; a signed-in admin names themselves"),
    targetRoles: z.array(AccountRole).min(1).max(50),
    redirectUri: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional()
      .describe("The page that the mailed link opens, with `token` added; the first of the site's allowed origins when left out"),
  })
  .openapi("RegisterInviteInput", {
    example: {
      email: "new.editor@demo.example",
      senderAccountId: "5eed0000000000000000a001",
      targetRoles: [{ scope: "*", pageId: ["5eed0000000000000000c001"], write: true }],
    },
  });

export const RegisterInvite = z
  .object({
    _id: Id,
    siteId: Id,
    email: z.string(),
    senderAccountId: Id,
    sent: z.boolean().describe("The mail is out; it follows within seconds"),
    revoked: z.boolean().describe("Withdrawn, or another one to the same address has taken its place"),
    targetRoles: z.array(AccountRole),
    expiresAt: Time,
    ...Tracked,
  })
  .openapi("RegisterInvite");

/** What is revoked may be of either kind. */
export const EitherInvite = z.union([Invite, RegisterInvite]);

export const RegisterTokenParam = z.object({
  token: z
    .string()
    .regex(/^[0-9a-f]{24}\.[\w-]{43}$/, "As the mailed link has it")
    .openapi({ example: `5eed00000000000000004e01.${"q".repeat(43)}` }),
});

export const AcceptInvite = z.strictObject({ name: PersonName, password: StaffPassword }).openapi("AcceptInvite", {
  example: { name: "Edda Editor", password: "a-long-new-password" },
});

export type InviteInput = z.output<typeof InviteInput>;
export type UpdateInvite = z.output<typeof UpdateInvite>;
export type RegisterInviteInput = z.output<typeof RegisterInviteInput>;
export type AcceptInvite = z.output<typeof AcceptInvite>;
/** `origin` is where the API is reached. */
export function toInvite(row: InviteWithToken, origin: string) {
  return {
    ...toInviteEvent(row),
    token: row.token,
    inviteUrl: `${origin}/invite/v1/magic-link/${row.token}`,
  } satisfies z.output<typeof Invite>;
}

/** What events say of an invite: all but the token and the link that has it. */
export function toInviteEvent(row: Omit<InviteWithToken, "token">) {
  return {
    _id: row.id,
    siteId: row.siteId,
    type: "magic-link" as const,
    redirectUri: row.redirectUri,
    targetSkus: row.targetSkus,
    consumed: row.consumedAt !== null,
    revoked: row.revokedAt !== null,
    accountId: row.accountId,
    expiresAt: row.expires,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  };
}

export function toRegisterInvite(row: RegisterInviteRow) {
  return { ...toRegisterInviteEvent(row), email: row.email } satisfies z.output<typeof RegisterInvite>;
}

/** What events say of an invitation: not to whom, since the log outlives what is known of a person. */
export function toRegisterInviteEvent(row: RegisterInviteRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    senderAccountId: row.senderAccountId,
    sent: row.sent,
    revoked: row.revokedAt !== null,
    targetRoles: row.targetRoles,
    expiresAt: row.expires,
    created: row.created,
    modified: row.modified,
  };
}
