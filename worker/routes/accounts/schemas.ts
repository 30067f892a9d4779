import { z } from "@hono/zod-openapi";
import { ROLE_SCOPES } from "../../../db/enums.ts";
import type { accounts } from "../../../db/schema/index.ts";
import { Id, Tags, Time, Tracked } from "../../http/schemas.ts";

export const Email = z.email().max(254).openapi({ example: "viewer@demo.example" });
export const Password = z.string().min(8, "At least 8 characters").max(200).openapi({ example: "demo-viewer-pass" });
export const PersonName = z.string().trim().min(1).max(200).openapi({ example: "Vera Viewer" });

export const AccountRole = z
  .strictObject({
    scope: z.enum(ROLE_SCOPES).describe("`*` administers, the others moderate"),
    pageId: z.array(Id).max(200).describe("The channels that the role is for; none: the whole site"),
    write: z.boolean().describe("`false` reads only"),
  })
  .openapi("AccountRole");

export const Account = z
  .object({
    _id: Id,
    siteId: Id,
    uid: Id.describe("The same as `_id`"),
    globalAccountID: Id.nullable().describe("Joins the accounts of one person who administers several sites"),
    email: z.string(),
    name: z.string(),
    normalizedName: z.string().describe("Lower case, without accents"),
    hash: z.string().describe("SHA-256 of the normalised e-mail, hex"),
    lastLogin: Time.nullable(),
    thirdPartyAuthProviders: z.array(z.object({ accountId: z.string(), provider: z.string() })),
    roles: z.array(AccountRole),
    subscriptions: z.array(z.string()).describe("Skus of active entitlements"),
    marketingOptin: z.boolean(),
    tags: Tags,
    ...Tracked,
  })
  .openapi("Account");

export const CreateAccount = z
  .strictObject({ email: Email, password: Password, name: PersonName, marketingOptin: z.boolean().default(false) })
  .openapi("CreateAccount");

export type AccountRow = typeof accounts.$inferSelect;
export type CreateAccount = z.output<typeof CreateAccount>;

// Nothing grants entitlements yet.
const NO_SKUS: string[] = [];

export function toAccount(row: AccountRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    uid: row.id,
    globalAccountID: row.globalAccountId,
    email: row.email,
    name: row.name,
    normalizedName: row.normalizedName,
    hash: row.emailHash,
    lastLogin: row.lastLogin,
    thirdPartyAuthProviders: row.thirdPartyAuthProviders,
    roles: row.roles,
    subscriptions: NO_SKUS,
    marketingOptin: row.marketingOptin,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Account>;
}
