import { z } from "@hono/zod-openapi";
import type { RegisterInviteRow } from "#db/schema/invites.ts";
import { Id, QueryBoolean, Sku, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import type { Invite as InviteWithToken } from "./invite-rows.ts";
import { AccountRole, Email, PersonName, StaffPassword } from "#worker/services/accounts/schemas.ts";
import { pickFields } from "#worker/services/core/fields.ts";

export const InviteToken = z
  .string()
  .regex(/^(?:[A-Za-z0-9]{6}|[A-Za-z0-9]{22})$/, "Must be 6 or 22 letters and digits")
  .openapi({ example: "a7Bk2Z" });
export const InviteTokenParam = z.object({ token: InviteToken });

const RedirectUri = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .describe("Where the link redirects to, with `intent` added; its origin must be one of the site's settings.security.allowedOrigins")
  .openapi({ example: "https://demo.example/welcome" });

const editable = {
  redirectUri: RedirectUri,
  siteId: Id.describe("Must equal Tifo-Client-Id"),
  targetSkus: z.array(Sku).min(1).max(50).describe("The skus that are granted on redemption"),
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
    inviteUrl: z.string().describe("The link to share"),
    redirectUri: RedirectUri,
    targetSkus: z.array(z.string()),
    consumed: z.boolean().describe("Whether the link has been opened"),
    revoked: z.boolean(),
    accountId: Id.nullable().describe("The account that redeemed it"),
    expiresAt: Time,
    tags: Tags,
    ...Tracked,
  })
  .openapi("Invite");

export const RegisterInviteInput = z
  .strictObject({
    email: Email,
    senderAccountId: Id.describe("The account that sends the invitation; for a signed-in admin, their own"),
    targetRoles: z.array(AccountRole).min(1).max(50),
    redirectUri: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional()
      .describe(
        "The page that the mailed link opens, with `token` added: on an allowed origin of the site, or `/studio/join?site=<client id>` of this deployment, where the person joins in Studio. Defaults to the first of the site's allowed origins",
      ),
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
    sent: z.boolean().describe("Whether the email has been sent; this usually takes a few seconds"),
    revoked: z.boolean().describe("Whether it was revoked, or replaced by a newer one to the same address"),
    targetRoles: z.array(AccountRole),
    expiresAt: Time,
    ...Tracked,
  })
  .openapi("RegisterInvite");

/** Both kinds of invites can be revoked. */
export const EitherInvite = z.union([Invite, RegisterInvite]);

export const RegisterTokenParam = z.object({
  token: z
    .string()
    .regex(/^[0-9a-f]{24}\.[\w-]{43}$/, "Must be the token of a mailed link")
    .openapi({ example: `5eed00000000000000004e01.${"q".repeat(43)}` }),
});

export const AcceptInvite = z.strictObject({ name: PersonName, password: StaffPassword }).openapi("AcceptInvite", {
  example: { name: "Edda Editor", password: "a-long-new-password" },
});

export type InviteInput = z.output<typeof InviteInput>;
export type UpdateInvite = z.output<typeof UpdateInvite>;
export type RegisterInviteInput = z.output<typeof RegisterInviteInput>;
export type AcceptInvite = z.output<typeof AcceptInvite>;
/** `origin` is the API's own. */
export function toInvite(row: InviteWithToken, origin: string) {
  return {
    ...toInviteEvent(row),
    token: row.token,
    inviteUrl: `${origin}/invite/v1/magic-link/${row.token}`,
  } satisfies z.output<typeof Invite>;
}

/** The invite as it appears in events: without the token and the link that contains it. */
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

/** The fields of a registration invite in events that a column holds. */
export const REGISTER_INVITE_FIELDS = {
  _id: "id",
  siteId: "siteId",
  senderAccountId: "senderAccountId",
  sent: "sent",
  targetRoles: "targetRoles",
  expiresAt: "expires",
  created: "created",
  modified: "modified",
} as const satisfies Record<string, keyof RegisterInviteRow>;

/** The invitation as it appears in events: without the recipient, because the log may outlive the person's data. */
export function toRegisterInviteEvent(row: RegisterInviteRow) {
  return { ...pickFields(row, REGISTER_INVITE_FIELDS), revoked: row.revokedAt !== null };
}
