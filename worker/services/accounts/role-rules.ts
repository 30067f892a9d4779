import { eq, type SQL, sql } from "drizzle-orm";
import type { AccountRole } from "#db/types.ts";
import { type AccountRow, accounts, pages, sites, totpSecrets } from "#db/schema/index.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { conflict, forbidden, invalid } from "#worker/lib/errors.ts";
import { type Action, isSiteAdmin, keyAllows } from "#worker/lib/roles.ts";
import { accountColumns } from "./columns.ts";

/** What a site's rules say of roles that are to be given. */
export interface RoleRules {
  allowNewAdmins: boolean;
  /** Of the pages that the roles name, how many the site has. */
  pages: number;
  otherAdmins: number;
}

/** The account that a change of roles is about, with what the change must heed, in one round trip. */
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
    rules: { allowNewAdmins: found?.allowNewAdmins === 1, pages: found?.pages ?? 0, otherAdmins: found?.otherAdmins ?? 0 },
  };
}

function roleRules(ctx: Ctx, which: SQL | undefined, roles: AccountRole[]) {
  return ctx.db
    .select({
      allowNewAdmins: sql<number>`json_extract(${sites.settings}, '$.security.allowNewAdmins')`.as("allow_new_admins"),
      pages: sql<number>`(select count(*) from ${pages} p where p.site_id = ${ctx.siteId}
        and p.id in (select value from json_each(${JSON.stringify(pagesOf(roles))})))`.as("page_count"),
      otherAdmins: sql<number>`(select count(*) from ${accounts} where site_id = ${ctx.siteId} and ${administersSite("write")}
        and not (${which}))`.as("other_admins"),
    })
    .from(sites)
    .where(eq(sites.id, ctx.siteId));
}

/**
 * 403 for a developer key without `roles:write`, which everything needs that gives roles, takes them away, or changes how somebody who
 * has some signs in: a key that may do one of these can make itself an admin.
 */
export async function requireRoleKey(ctx: Ctx): Promise<void> {
  if (!(await mayGiveRoles(ctx))) {
    throw forbidden("The developer key lacks the role roles:write, which is needed to change roles, or the sign-in of accounts with roles");
  }
}

/** Whether the caller, of those who may change accounts at all, may also give them roles. */
export async function mayGiveRoles(ctx: Ctx): Promise<boolean> {
  const actor = await ctx.caller();
  return actor.kind !== "developer" || keyAllows(actor.roles, "roles", "write");
}

/** Every change of roles passes here: rejects a caller who may not, pages of another site, a new admin where the site allows none, and the demotion of the last admin. */
export async function requireGrantable(
  ctx: Ctx,
  rules: RoleRules,
  account: { roles: AccountRole[] } | undefined,
  roles: AccountRole[],
): Promise<void> {
  const before = account?.roles ?? [];
  if (JSON.stringify(before) !== JSON.stringify(roles)) await requireRoleKey(ctx);
  if (rules.pages < pagesOf(roles).length) throw invalid("roles", "A pageId is of no page of this site");
  // A channel's admin is no admin of the site yet.
  const isNewAdmin = (roles.some(isAdminRole) && !before.some(isAdminRole)) || (isSiteAdmin(roles, "read") && !isSiteAdmin(before, "read"));
  if (!rules.allowNewAdmins && isNewAdmin) {
    throw forbidden("The site takes no new admins (settings.security.allowNewAdmins)");
  }
  if (isSiteAdmin(before, "write") && !isSiteAdmin(roles, "write") && rules.otherAdmins === 0) throw conflict(LAST_ADMIN);
}

/** The same of the last admin as a condition of the change itself, so that of two who go at once one stays. */
export function leavesAnAdmin(ctx: Ctx, account: { id: string; roles: AccountRole[] }, roles: AccountRole[] = []): SQL | undefined {
  if (!isSiteAdmin(account.roles, "write") || isSiteAdmin(roles, "write")) return undefined;
  return sql`exists (select 1 from ${accounts} other where other.site_id = ${ctx.siteId} and other.id <> ${account.id} and ${administersSite("write", sql`other.roles`)})`;
}

export const LAST_ADMIN = "The last admin of a site can't be removed; make somebody else admin first";

/** Whether the site lets the roles of this row of `accounts` count only with an authenticator app. */
export const requiresTotp = sql`(json_array_length(${accounts.roles}) > 0 and coalesce((select json_extract(s.settings, '$.security.requireStaffTotp')
  from ${sites} s where s.id = ${accounts.siteId}), 0))`;

/** Whether this row has roles that don't count, for want of an authenticator app. Of viewers neither the site nor the app is looked up. */
export const rolesAreVoid = sql`(${requiresTotp} and not exists (select 1 from ${totpSecrets} t
  where t.account_id = ${accounts.id} and t.confirmed is not null))`;

/** The roles of this row that count: what decides what an account may do reads these, never the column. */
export const countingRoles = sql`case when ${rolesAreVoid} then '[]' else ${accounts.roles} end`;

/** `isSiteAdmin` of worker/lib/roles.ts as SQL. */
export function administersSite(action: Action, roles: SQL = sql`${accounts.roles}`): SQL {
  const write = action === "write" ? sql` and role.value ->> 'write' = 1` : sql``;
  return sql`exists (select 1 from json_each(${roles}) role where role.value ->> 'scope' = '*' and json_array_length(role.value, '$.pageId') = 0${write})`;
}

function isAdminRole(role: AccountRole): boolean {
  return role.scope === "*";
}

function pagesOf(roles: AccountRole[]): string[] {
  return [...new Set(roles.flatMap((role) => role.pageId))];
}
