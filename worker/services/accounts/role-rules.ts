import { z } from "@hono/zod-openapi";
import { eq, type SQL, sql } from "drizzle-orm";
import type { AccountRole } from "#db/types.ts";
import { type AccountRow, accounts, totpSecrets } from "#db/schema/accounts.ts";
import { pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { conflict, forbidden, invalid } from "#worker/lib/errors.ts";
import { parseJson } from "#worker/lib/json.ts";
import { type Action, isSiteAdmin, keyAllows } from "#worker/lib/roles.ts";
import { accountColumns } from "./columns.ts";

/** What a change of roles is checked against. */
export interface RoleRules {
  allowNewAdmins: boolean;
  /** Those of the pages that the roles name which exist on the site. */
  pages: string[];
  otherAdmins: number;
}

/** Reads the account whose roles change, and the rules for the change, in one round trip. */
export async function readForRoles(
  ctx: Ctx,
  which: SQL | undefined,
  roles: AccountRole[],
): Promise<{ account: AccountRow | undefined; rules: RoleRules }> {
  const [[account], [found]] = await ctx.db.batch([
    ctx.db.select(accountColumns).from(accounts).where(which),
    roleRules(ctx, which, roles),
  ]);
  return {
    account,
    rules: {
      allowNewAdmins: found?.allowNewAdmins === 1,
      pages: PageIds.parse(parseJson(found?.pages ?? "[]")),
      otherAdmins: found?.otherAdmins ?? 0,
    },
  };
}

const PageIds = z.array(z.string());

function roleRules(ctx: Ctx, which: SQL | undefined, roles: AccountRole[]) {
  return ctx.db
    .select({
      allowNewAdmins: sql<number>`json_extract(${sites.settings}, '$.security.allowNewAdmins')`.as("allow_new_admins"),
      pages: sql<string>`(select json_group_array(p.id) from ${pages} p where +p.site_id = ${ctx.siteId}
        and p.id in (select value from json_each(${JSON.stringify(pagesOf(roles))})))`.as("page_ids"),
      otherAdmins: sql<number>`(select count(*) from ${accounts} where site_id = ${ctx.siteId} and ${administersSite("write")}
        and not (${which}))`.as("other_admins"),
    })
    .from(sites)
    .where(eq(sites.id, ctx.siteId));
}

/**
 * A 403 for a developer key without `roles:write`. It is required to grant or revoke roles, to change how an account with roles signs
 * in and to relax the site's security settings: a key that can do any of these could make itself an admin.
 */
export async function requireCanGrantRoles(ctx: Ctx): Promise<void> {
  if (!(await canGrantRoles(ctx))) {
    throw forbidden("The developer key needs the role roles:write to change roles, how accounts with roles sign in, or security settings");
  }
}

/** Whether a caller who may change accounts may also grant them roles. */
export async function canGrantRoles(ctx: Ctx): Promise<boolean> {
  const actor = await ctx.caller();
  return actor.kind !== "developer" || keyAllows(actor.roles, "roles", "write");
}

/** Rejects a change of roles by a caller without permission, for a page of another site, to a new admin if the site allows none, or that demotes the last admin. */
export async function requireAllowedRoleChange(
  ctx: Ctx,
  rules: RoleRules,
  account: { roles: AccountRole[] } | undefined,
  roles: AccountRole[],
): Promise<void> {
  const before = account?.roles ?? [];
  if (JSON.stringify(before) !== JSON.stringify(roles)) await requireCanGrantRoles(ctx);
  // Roles keep the ids of pages that have been deleted since.
  const known = new Set([...rules.pages, ...pagesOf(before)]);
  if (!pagesOf(roles).every((id) => known.has(id))) throw invalid("roles", "A pageId is not a page of this site");
  // An admin of a channel who becomes an admin of the site is new too.
  const isNewAdmin = (roles.some(isAdminRole) && !before.some(isAdminRole)) || (isSiteAdmin(roles, "read") && !isSiteAdmin(before, "read"));
  if (!rules.allowNewAdmins && isNewAdmin) {
    throw forbidden("The site allows no new admins (settings.security.allowNewAdmins)");
  }
  if (isSiteAdmin(before, "write") && !isSiteAdmin(roles, "write") && rules.otherAdmins === 0) throw conflict(LAST_ADMIN);
}

/** The roles for pages that exist. A role without any is omitted, because one that names no page is for the whole site. */
export function withExistingPages(roles: AccountRole[], { pages }: RoleRules): AccountRole[] {
  return roles.flatMap((role) => {
    const pageId = role.pageId.filter((id) => pages.includes(id));
    return role.pageId.length > 0 && pageId.length === 0 ? [] : [{ ...role, pageId }];
  });
}

/** The rule for the last admin as a condition of the update itself, so that concurrent changes can't remove both of two admins. */
export function leavesAnAdmin(ctx: Ctx, account: { id: string; roles: AccountRole[] }, roles: AccountRole[] = []): SQL | undefined {
  if (!isSiteAdmin(account.roles, "write") || isSiteAdmin(roles, "write")) return undefined;
  return sql`exists (select 1 from ${accounts} other where other.site_id = ${ctx.siteId} and other.id <> ${account.id} and ${administersSite("write", sql`other.roles`)})`;
}

export const LAST_ADMIN = "The last admin of a site can't be removed; make someone else an admin first";

/** Whether the roles of this row of `accounts` require an authenticator app. */
export const requiresTotp = sql`(json_array_length(${accounts.roles}) > 0 and coalesce((select json_extract(s.settings, '$.security.requireStaffTotp')
  from ${sites} s where s.id = ${accounts.siteId}), 0))`;

/** Whether this row's roles are suspended because the account has no authenticator app. For viewers, neither the site nor the app is read. */
export const rolesAreSuspended = sql`(${requiresTotp} and not exists (select 1 from ${totpSecrets} t
  where t.account_id = ${accounts.id} and t.confirmed is not null))`;

/** The effective roles of this row. Authorization must read these, never the column. */
export const effectiveRoles = sql`case when ${rolesAreSuspended} then '[]' else ${accounts.roles} end`;

/** `isSiteAdmin` of worker/lib/roles.ts as SQL. The comparison lets SQLite use the index of accounts with roles. */
export function administersSite(action: Action, roles: SQL = sql`${accounts.roles}`): SQL {
  const write = action === "write" ? sql` and role.value ->> 'write' = 1` : sql``;
  return sql`(${roles} <> '[]' and exists (select 1 from json_each(${roles}) role
    where role.value ->> 'scope' = '*' and json_array_length(role.value, '$.pageId') = 0${write}))`;
}

function isAdminRole(role: AccountRole): boolean {
  return role.scope === "*";
}

function pagesOf(roles: AccountRole[]): string[] {
  return [...new Set(roles.flatMap((role) => role.pageId))];
}
