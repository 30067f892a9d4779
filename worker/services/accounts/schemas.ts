import { z } from "@hono/zod-openapi";
import { ROLE_SCOPES } from "#db/enums.ts";
import type { AccountRow, GlobalAccountRow } from "#db/schema/index.ts";
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
  .refine((name) => !/\p{Cc}/u.test(name), "One line")
  .openapi({ example: "Vera Viewer" });

const BaseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .openapi({ example: "https://demo.example/account" });

const DEFAULT_PAGE =
  "The page that the mail's link opens, with `token` added; its origin is one of the site's allowed ones. Without it the link opens the first of them, with `token` and `purpose` added, and the mail shows the token as a code";

export const AccountRole = z
  .strictObject({
    scope: z.enum(ROLE_SCOPES).describe("`*` administers, the others moderate"),
    pageId: z.array(Id).max(200).describe("The channels that the role is for; none: the whole site"),
    write: z.boolean().describe("`false` reads only"),
  })
  .openapi("AccountRole");

const Roles = z.array(AccountRole).max(50);

const ThirdPartyLink = z.strictObject({
  accountId: z.string().min(1).max(200).describe("The person's id there").openapi({ example: "fan-0417" }),
  provider: z.string().min(1).max(100).openapi({ example: "club-app" }),
});

export const Account = z
  .object({
    _id: Id,
    siteId: Id,
    uid: Id.describe("The same as `_id`"),
    globalAccountID: Id.nullable().describe("The person's global account, once they have linked this account to it"),
    email: z.string(),
    name: z.string(),
    normalizedName: z.string().describe("Lower case, without accents"),
    hash: z.string().describe("SHA-256 of the normalised e-mail, hex"),
    lastLogin: Time.nullable(),
    emailVerified: z.boolean().describe("Whether the person has proved that the address is theirs"),
    thirdPartyAuthProviders: z.array(ThirdPartyLink),
    roles: z.array(AccountRole),
    subscriptions: z.array(z.string()).describe("Skus that the account holds, in alphabetical order"),
    marketingOptin: z.boolean(),
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
    marketingOptin: z.boolean().default(false),
    baseUrl: BaseUrl.optional().describe(DEFAULT_PAGE),
  })
  .openapi("CreateAccount", { example: { email: "viewer@demo.example", password: "demo-viewer-pass", name: "Vera Viewer" } });

const Links = z.array(ThirdPartyLink).max(20);

export const UpsertAccount = z
  .strictObject({
    email: Email,
    name: PersonName,
    password: Password.optional().describe("Ends every session of the old one; without any, the account signs in by other means alone"),
    thirdPartyAuthProviders: Links.optional().describe("Kept when left out"),
    roles: Roles.optional().describe("Kept when left out"),
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
    email: Email.optional().describe("Kept when left out; changed by keys and admins alone"),
    thirdPartyAuthProviders: Links.optional().describe("Kept when left out; changed by keys and admins alone"),
  })
  .openapi("UpdateAccount", { example: { name: "Vera Viewer", marketingOptin: true } });

export const RolesInput = z
  .strictObject({ roles: Roles })
  .openapi("RolesInput", { example: { roles: [{ scope: "*", pageId: ["5eed0000000000000000c001"], write: true }] } });

export const AccountRoles = z.object({ _id: Id, roles: z.array(AccountRole) }).openapi("AccountRoles");

export const RoleFilter = {
  admin: QueryBoolean.optional().openapi({ type: "boolean", description: "Only accounts with a role of scope `*`, or only those without" }),
  scope: z.enum(ROLE_SCOPES).optional(),
  pageId: Id.optional().openapi({ description: "Accounts with a role that names this channel" }),
  write: QueryBoolean.optional().openapi({ type: "boolean", description: "Whether the role may write" }),
  email: z.string().min(1).max(254).optional().describe("Exactly this address, whatever the case"),
  name: z.string().trim().min(1).max(200).optional().describe("Exactly this name, whatever the case and the accents"),
  tags: commaSeparated(z.string().min(1).max(100), 50, "team:home")
    .optional()
    .describe("Accounts that have all of these tags, comma-separated"),
};

export const TagsInput = z.strictObject({ tags: Tags }).openapi("TagsInput", { example: { tags: ["team:home", "tier:gold"] } });

export const BulkTags = z
  .string()
  .openapi("BulkTags", { example: 'account_id,tag_name\n5eed0000000000000000a003,"team:home,tier:gold"\n' });

export const BulkTagsAnswer = z
  .object({ success: z.boolean(), tagged: z.number().int().describe("Accounts that have the tags now") })
  .openapi("BulkTagsAnswer");

export const BulkTagsIssues = BulkTagsAnswer.extend({
  message: z.string(),
  details: z.array(z.object({ accountId: z.string(), message: z.string() })).describe("One for each row that was not taken"),
}).openapi("BulkTagsIssues");

export const ChangePassword = z
  .strictObject({ password: Password, oldPassword: z.string().min(1).max(200).openapi({ example: "demo-viewer-pass" }) })
  .openapi("ChangePassword");

export const AskReset = z
  .strictObject({
    email: Email,
    baseUrl: BaseUrl.describe("Where the mail's link leads, with `token` added; its origin is one of the site's allowed ones").openapi({
      example: "https://demo.example/reset",
    }),
  })
  .openapi("AskReset");

export const UseReset = z
  .strictObject({
    token: z.string().min(1).max(200).describe("From the link in the mail").openapi({ example: "5eed0000000000000000f001.c2lnbmF0dXJl" }),
    password: Password,
  })
  .openapi("UseReset");

export const AskVerification = z
  .strictObject({
    email: Email.optional().describe("Whose address; with a bearer token, the caller's own is taken and this one ignored"),
    baseUrl: BaseUrl.optional().describe(DEFAULT_PAGE),
  })
  .openapi("AskVerification", { example: { email: "viewer@demo.example", baseUrl: "https://demo.example/verify" } });

const MailedToken = z
  .string()
  .min(1)
  .max(200)
  .describe("From the mail: of its link, or the code")
  .openapi({ example: "5eed0000000000000000f002.c2lnbmF0dXJl" });

export const VerifyEmail = z
  .strictObject({
    token: MailedToken,
    password: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("The account's password, to prove that the account is yours; not needed with the account's bearer token"),
    newPassword: Password.optional().describe(
      "A new password for the account instead: the old one and all sessions end. At least 10 characters for accounts with roles",
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
    password: Password.describe("Of the new global account; of the existing one, for a person who has one"),
  })
  .openapi("ConfirmGlobalAccount");

export const GlobalAccount = z.object({ _id: Id, email: z.string(), created: Time }).openapi("GlobalAccount");

export const Success = z.object({ success: z.literal(true) }).openapi("Success");

export const GlobalSite = z.object({ _id: Id.describe("The account there"), siteId: Id, slug: z.string() }).openapi("GlobalSite");

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
