import { and, eq, type SQL, sql } from "drizzle-orm";
import { type AccountRow, accounts } from "#db/schema/accounts.ts";
import type { AccountRole } from "#db/types.ts";
import { notFound } from "#worker/lib/errors.ts";
import { type RoleFilters, toAccount } from "./schemas.ts";
import { accountList } from "./accounts.ts";
import { normalizeEmail, normalizeName } from "./account-rows.ts";
import { commitIfUnchanged, type Ctx, nextVersion, ownRow, updateRow } from "#worker/services/core/context.ts";
import { planCredentials } from "./credentials.ts";
import { type ListPage, type ListQuery, listRows } from "#worker/services/core/listing.ts";
import { leavesAnAdmin, readForRoles, requireAllowedRoleChange } from "./role-rules.ts";

/** Finds accounts by roles, address, name and tags; a single role must match all of `scope`, `pageId` and `write`. */
export function queryRoles(ctx: Ctx, query: ListQuery & RoleFilters): Promise<ListPage<AccountRow>> {
  const { admin, scope, pageId, write, email, name, tags = [] } = query;
  const filtersByRole = [scope, pageId, write].some((filter) => filter !== undefined);
  return listRows(
    ctx,
    accountList,
    query,
    eq(accounts.siteId, ctx.siteId),
    email === undefined ? undefined : eq(accounts.email, normalizeEmail(email)),
    name === undefined ? undefined : eq(accounts.normalizedName, normalizeName(name)),
    ...tags.map((tag) => sql`exists (select 1 from json_each(${accounts.tags}) where value = ${tag})`),
    admin === undefined ? undefined : sql`${hasRole(sql`role.value ->> 'scope' = '*'`)} = ${admin ? 1 : 0}`,
    filtersByRole
      ? hasRole(
          and(
            scope === undefined ? undefined : sql`role.value ->> 'scope' = ${scope}`,
            write === undefined ? undefined : sql`role.value ->> 'write' = ${write ? 1 : 0}`,
            pageId === undefined ? undefined : sql`${pageId} in (select value from json_each(role.value, '$.pageId'))`,
          ),
        )
      : undefined,
  );
}

/** Replaces an account's roles. The last admin of a site stays one; granting roles voids the credentials of an untrusted account. */
export async function setRoles(ctx: Ctx, id: string, roles: AccountRole[]): Promise<AccountRow> {
  const { account, rules } = await readForRoles(ctx, ownRow(ctx, accounts, id), roles);
  if (!account) throw notFound("Account not found");
  await requireAllowedRoleChange(ctx, rules, account, roles);
  const credentials = await planCredentials(ctx, account, { roles });
  const changed = { ...credentials.columns, roles, ...nextVersion(ctx, account) };
  const next: AccountRow = { ...account, ...changed };
  const change = updateRow(ctx, accounts, account, changed, leavesAnAdmin(ctx, account, roles));
  await commitIfUnchanged(
    ctx,
    [change, ...credentials.changes],
    { type: "account.rolesUpdated", resource: `account/${id}`, data: toAccount(next) },
    ...credentials.events,
  );
  return next;
}

function hasRole(condition: SQL | undefined): SQL {
  return sql`exists (select 1 from json_each(${accounts.roles}) role where ${condition})`;
}
