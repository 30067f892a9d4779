import { z } from "@hono/zod-openapi";
import { ROLE_SCOPES } from "#db/enums.ts";
import type { AccountRow, GlobalAccountRow } from "#db/schema/accounts.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { commaSeparated, Id, QueryBoolean, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";

export const Email = z.email().max(254).openapi({ example: "viewer@demo.example" });
export const Password = z.string().min(8, "At least 8 characters").max(200).openapi({ example: "demo-viewer-pass" });
export const STAFF_PASSWORD_LENGTH = 10;
export const STAFF_PASSWORD_TOO_SHORT = `At least ${STAFF_PASSWORD_LENGTH} characters for accounts with roles`;
export const StaffPassword = z
  .string()
  .min(STAFF_PASSWORD_LENGTH, STAFF_PASSWORD_TOO_SHORT)
  .max(200)
  .openapi({ example: "demo-admin-pass" });
export const PersonName = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((name) => !/\p{Cc}/u.test(name), "Must be a single line")
  .openapi({ example: "Vera Viewer" });

const BaseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .openapi({ example: "https://demo.example/account" });

const DEFAULT_PAGE =
  "The page that the link in the email opens, with `token` added; its origin must be an allowed origin of the site. If omitted, the link opens the first allowed origin with `token` and `purpose` added, and the email also shows the token as a code";

export const AccountRole = z
  .strictObject({
    scope: z.enum(ROLE_SCOPES).describe("`*` is an admin, the others are moderators"),
    pageId: z.array(Id).max(200).describe("The channels that the role applies to; empty for the whole site"),
    write: z.boolean().describe("`false` for read-only access"),
  })
  .openapi("AccountRole");

const Roles = z.array(AccountRole).max(50);

const ThirdPartyLink = z.strictObject({
  accountId: z.string().min(1).max(200).describe("The person's id at the provider").openapi({ example: "fan-0417" }),
  provider: z.string().min(1).max(100).openapi({ example: "club-app" }),
});

export const Account = z
  .object({
    _id: Id,
    siteId: Id,
    uid: Id.describe("Same as `_id`"),
    globalAccountID: Id.nullable().describe("The global account that the person has linked this account to"),
    email: z.string(),
    name: z.string(),
    normalizedName: z.string().describe("Lower case, without accents"),
    hash: z.string().describe("SHA-256 of the normalized email address, hex"),
    lastLogin: Time.nullable(),
    emailVerified: z.boolean().describe("Whether the person has proved that they own the address"),
    thirdPartyAuthProviders: z.array(ThirdPartyLink),
    roles: z.array(AccountRole),
    subscriptions: z.array(z.string()).describe("The skus that the account holds, in alphabetical order"),
    marketingOptin: z.boolean(),
    leaderboardHidden: z.boolean().describe("Whether leaderboards show the account's points to others without its name and id"),
    tags: Tags,
    ...Tracked,
  })
  .openapi("Account");

export const AccountList = listOf(Account).openapi("AccountList");

export const CreateAccount = z
  .strictObject({
    email: Email,
    password: Password,
    name: PersonName,
    marketingOptin: z
      .boolean()
      .optional()
      .describe("Consent to marketing; if omitted, the site's `settings.loginMarketingOptIn.default`, or false"),
    baseUrl: BaseUrl.optional().describe(DEFAULT_PAGE),
  })
  .openapi("CreateAccount", { example: { email: "viewer@demo.example", password: "demo-viewer-pass", name: "Vera Viewer" } });

const Links = z.array(ThirdPartyLink).max(20);

export const UpsertAccount = z
  .strictObject({
    email: Email,
    name: PersonName,
    password: Password.optional().describe("A new password ends every session. An account without one can't sign in with a password"),
    thirdPartyAuthProviders: Links.optional().describe("Unchanged if omitted"),
    roles: Roles.optional().describe("Unchanged if omitted"),
  })
  .openapi("UpsertAccount", {
    example: {
      email: "referee@demo.example",
      name: "Rita Referee",
      roles: [{ scope: "Chat_Moderator", pageId: ["5eed0000000000000000c001"], write: true }],
    },
  });

export const UpdateAccount = z
  .strictObject({
    name: PersonName,
    marketingOptin: z.boolean().default(false),
    leaderboardHidden: z
      .boolean()
      .optional()
      .describe("Unchanged if omitted. `true`: leaderboards show the account's points to others without its name and id"),
    email: Email.optional().describe("Unchanged if omitted; only keys and admins can change it"),
    thirdPartyAuthProviders: Links.optional().describe("Unchanged if omitted; only keys and admins can change it"),
  })
  .openapi("UpdateAccount", { example: { name: "Vera Viewer", marketingOptin: true } });

export const RolesInput = z
  .strictObject({ roles: Roles })
  .openapi("RolesInput", { example: { roles: [{ scope: "*", pageId: ["5eed0000000000000000c001"], write: true }] } });

export const AccountRoles = z.object({ _id: Id, roles: z.array(AccountRole) }).openapi("AccountRoles");

export const RoleFilter = {
  admin: QueryBoolean.optional().openapi({ type: "boolean", description: "Only accounts with a role of scope `*`, or only those without" }),
  scope: z.enum(ROLE_SCOPES).optional(),
  pageId: Id.optional().openapi({ description: "Only accounts with a role for this channel" }),
  write: QueryBoolean.optional().openapi({ type: "boolean", description: "Whether the role may write" }),
  email: z.string().min(1).max(254).optional().describe("Exactly this address, case-insensitive"),
  name: z.string().trim().min(1).max(200).optional().describe("Exactly this name, ignoring case and accents"),
  tags: commaSeparated(z.string().min(1).max(100), 50, "team:home")
    .optional()
    .describe("Only accounts with all of these tags, comma-separated"),
};

export const TagsInput = z.strictObject({ tags: Tags }).openapi("TagsInput", { example: { tags: ["team:home", "tier:gold"] } });

export const BulkTags = z
  .string()
  .openapi("BulkTags", { example: 'account_id,tag_name\n5eed0000000000000000a003,"team:home,tier:gold"\n' });

export const BulkTagsAnswer = z
  .object({ success: z.boolean(), tagged: z.number().int().describe("The number of accounts that were tagged") })
  .openapi("BulkTagsAnswer");

export const BulkTagsIssues = BulkTagsAnswer.extend({
  message: z.string(),
  details: z.array(z.object({ accountId: z.string(), message: z.string() })).describe("One entry for each rejected row"),
}).openapi("BulkTagsIssues");

export const ChangePassword = z
  .strictObject({ password: Password, oldPassword: z.string().min(1).max(200).openapi({ example: "demo-viewer-pass" }) })
  .openapi("ChangePassword");

export const AskReset = z
  .strictObject({
    email: Email,
    baseUrl: BaseUrl.describe(
      "The page that the link in the email opens, with `token` added: on an allowed origin of the site, or `/studio/reset?site=<client id>` of this deployment (for a global account, `/studio/reset-global?site=<client id>`)",
    ).openapi({
      example: "https://demo.example/reset",
    }),
  })
  .openapi("AskReset");

export const UseReset = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(200)
      .describe("The token in the email's link")
      .openapi({ example: "5eed0000000000000000f001.c2lnbmF0dXJl" }),
    password: Password,
  })
  .openapi("UseReset");

export const AskVerification = z
  .strictObject({
    email: Email.optional().describe("The address to verify; ignored with a bearer token, which verifies the caller's own address"),
    baseUrl: BaseUrl.optional().describe(DEFAULT_PAGE),
  })
  .openapi("AskVerification", { example: { email: "viewer@demo.example", baseUrl: "https://demo.example/verify" } });

const MailedToken = z
  .string()
  .min(1)
  .max(200)
  .describe("The token in the email's link, or the code that the email shows")
  .openapi({ example: "5eed0000000000000000f002.c2lnbmF0dXJl" });

export const VerifyEmail = z
  .strictObject({
    token: MailedToken,
    password: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("The account's password, as proof that the account is yours; not needed with its bearer token"),
    newPassword: Password.optional().describe(
      "A new password for the account, instead of proof; voids the old password and all sessions. At least 10 characters for accounts with roles",
    ),
  })
  .refine(({ password, newPassword }) => password === undefined || newPassword === undefined, {
    path: ["newPassword"],
    message: "Send either password or newPassword",
  })
  .openapi("VerifyEmail");

export const AskGlobalAccount = z
  .strictObject({ baseUrl: BaseUrl.optional().describe(DEFAULT_PAGE) })
  .openapi("AskGlobalAccount", { example: { baseUrl: "https://demo.example/global" } });

export const ConfirmGlobalAccount = z
  .strictObject({
    token: MailedToken,
    password: Password.describe("The password of the existing global account or, if the person has none, a password for the new one"),
  })
  .openapi("ConfirmGlobalAccount");

export const GlobalAccount = z.object({ _id: Id, email: z.string(), created: Time }).openapi("GlobalAccount");

export const Success = z.object({ success: z.literal(true) }).openapi("Success");

export const GlobalSite = z.object({ _id: Id.describe("The account on that site"), siteId: Id, slug: z.string() }).openapi("GlobalSite");

export type CreateAccount = z.output<typeof CreateAccount>;
export type UpsertAccount = z.output<typeof UpsertAccount>;
export type UpdateAccount = z.output<typeof UpdateAccount>;
export type ChangePassword = z.output<typeof ChangePassword>;
export type AskReset = z.output<typeof AskReset>;
export type VerifyEmail = z.output<typeof VerifyEmail>;
export type AskVerification = z.output<typeof AskVerification>;
export type AskGlobalAccount = z.output<typeof AskGlobalAccount>;
export type ConfirmGlobalAccount = z.output<typeof ConfirmGlobalAccount>;
export type UseReset = z.output<typeof UseReset>;
export type BulkTagsIssues = z.output<typeof BulkTagsIssues>;
export type RoleFilters = { [Filter in keyof typeof RoleFilter]?: z.output<(typeof RoleFilter)[Filter]> };

export function toAccount(row: AccountRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    uid: row.id,
    globalAccountID: row.globalAccountId,
    email: row.email,
    emailVerified: row.emailVerified !== null,
    name: row.name,
    normalizedName: row.normalizedName,
    hash: row.emailHash,
    lastLogin: row.lastLogin,
    thirdPartyAuthProviders: row.thirdPartyAuthProviders,
    roles: row.roles,
    subscriptions: row.subscriptions,
    marketingOptin: row.marketingOptin,
    leaderboardHidden: row.leaderboardHidden,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Account>;
}

export function toGlobalAccount({ id, email, created }: GlobalAccountRow) {
  return { _id: id, email, created } satisfies z.output<typeof GlobalAccount>;
}

export function toRoles(row: AccountRow) {
  return { _id: row.id, roles: row.roles } satisfies z.output<typeof AccountRoles>;
}
